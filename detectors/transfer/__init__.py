"""Transfer: detectors on models, games, corpora and sources that they have not learned from."""

from liescope.detectors.transfer.transferring import TransferResult, transfer

__all__ = ["TransferResult", "transfer"]
