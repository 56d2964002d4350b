"""The page. The only package that imports gradio or plotly."""
