"""What a run will take, before anybody is asked: `forecast`, the `--dry-run` of `play` and `label`."""

from liescope.generate.runs.forecast.forecasting import forecast, forecast_label
from liescope.generate.runs.forecast.result import Forecast, KindForecast, ModelForecast
from liescope.generate.runs.forecast.sample import Range

__all__ = ["Forecast", "KindForecast", "ModelForecast", "Range", "forecast", "forecast_label"]
