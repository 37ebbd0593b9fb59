"""How the report page looks: one column, light or dark as the reader has it, and fit for paper."""

from __future__ import annotations

PAGE_STYLE = """
:root{color-scheme:light dark;--ink:#1f2328;--soft:#59636e;--line:#d8dee4;--paper:#fff;--wash:#f5f7f9;
--accent:#3567b3;--bad:#b3352f}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--line:#323a43;--paper:#0f1318;
--wash:#181d24;--accent:#7fa8e8;--bad:#ee8a8d}}
*{box-sizing:border-box}
html{background:var(--paper)}
body{margin:0 auto;padding:3rem 1.25rem 4rem;max-width:45rem;color:var(--ink);overflow-wrap:anywhere;
font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',sans-serif}
h1{font-size:1.9rem;line-height:1.2;letter-spacing:-.015em;margin:0 0 .3rem}
h2{font-size:1.2rem;line-height:1.3;margin:0 0 .6rem}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
p{margin:.5rem 0}.soft{color:var(--soft)}.small{font-size:.875rem}
section{margin-top:2.5rem;padding-top:1.75rem;border-top:1px solid var(--line)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:1rem 1.5rem;
margin:1.75rem 0 0}
.figures div{border-left:3px solid var(--accent);padding-left:.75rem}
.figures dt{color:var(--soft);font-size:.875rem}
.figures dd{margin:0;font-size:1.45rem;font-weight:600;line-height:1.25;font-variant-numeric:tabular-nums}
.promise{background:var(--wash);border-radius:8px;padding:1rem 1.25rem;margin-top:2rem}
.promise h2{font-size:1rem;margin:0 0 .25rem}.promise p{margin:0}
pre{background:var(--wash);border-radius:6px;padding:.75rem 1rem;margin:.75rem 0 1.25rem;white-space:pre-wrap;
font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,'Liberation Mono','DejaVu Sans Mono',monospace}
pre.bad{border-left:3px solid var(--bad)}
.wide{overflow-x:auto}
table{border-collapse:collapse;min-width:20rem;overflow-wrap:break-word;
font-size:.9rem;font-variant-numeric:tabular-nums}
th{font-weight:600;color:var(--soft);border-bottom:1px solid var(--line)}
th,td{padding:.35rem .9rem;vertical-align:top;text-align:left}
th:first-child,td:first-child{padding-left:0}th:last-child,td:last-child{padding-right:0}
tbody tr+tr td{border-top:1px solid var(--line)}
table.whole{width:100%}table.whole a{overflow-wrap:anywhere}span.whole{white-space:nowrap}
.number{text-align:right}td.number{white-space:nowrap}.wide th{white-space:normal!important}
svg.dp{display:block;width:100%;height:auto;margin:0 0 1.25rem}
.state{color:var(--bad)}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line)}
@media print{:root{--ink:#000;--soft:#444;--line:#bbb;--paper:#fff;--wash:#f4f4f4;--accent:#3567b3;--bad:#900}
body{padding:0;max-width:none;font-size:11pt}section{break-inside:avoid-page}
svg.dp,tr,pre,.promise{break-inside:avoid}.wide{overflow:visible}h2{break-after:avoid}}
""".strip()
