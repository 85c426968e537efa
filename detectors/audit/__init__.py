"""What a detector could exploit in a corpus without detecting deception."""

from liescope.detectors.audit.findings import AuditResult
from liescope.detectors.audit.run import audit

__all__ = ["AuditResult", "audit"]
