"""What a label means: taxonomy, truth by role, claims checked against the log, self-reports, peers' ratings."""
