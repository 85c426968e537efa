"""What a detector could exploit in a corpus without detecting deception."""

from liescope.detectors.audit.audit_findings import AuditResult
from liescope.detectors.audit.auditing import audit

__all__ = ["AuditResult", "audit"]
