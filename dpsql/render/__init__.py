"""Render answers as boxes, charts, HTML tables and files.

answer_text(answer)      a box for a terminal, values with their margins         box.py
answer_html(answer)      a table for a notebook or a page                        html.py
chart_text(answer)       bars or a line in a terminal, chart_svg for a page      bar_chart.py, svg.py
to_csv, to_json, ...     all digits, for programs                                formats.py
"""
