"""What an answer can be shown as: boxes, charts, pages, files. A file of this folder each.

answer_text(answer)      a box for a terminal, each value with its margin        box.py
answer_html(answer)      a table for a notebook or a page                        html.py
chart_text(answer)       bars or a line in a terminal, chart_svg for a page      bar_chart.py, svg.py
to_csv, to_json, ...     every digit, for programs                               formats.py
"""
