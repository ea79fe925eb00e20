"""Show a recording in the browser: raw, aligned and denoised events side by side."""

from evcrisp.viewer.export import ExportOptions, export, export_html
from evcrisp.viewer.server import serve, view
from evcrisp.viewer.session import ViewOptions

__all__ = ["ExportOptions", "ViewOptions", "export", "export_html", "serve", "view"]
