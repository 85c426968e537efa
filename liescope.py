"""front door"""
