/** The style sheet of the console: one type scale, one spacing scale, one accent, light and dark. One file: it is served as one. */

export const STYLE = `
:root {
  color-scheme: light dark;
  --bg: light-dark(#f7f7f5, #101113);
  --surface: light-dark(#ffffff, #17191c);
  --raised: light-dark(#f2f2ef, #1f2226);
  --line: light-dark(#e3e3de, #2b2f35);
  --line-strong: light-dark(#8b8f96, #70767f);
  --text: light-dark(#191b1f, #eceef1);
  --muted: light-dark(#5a5f67, #a3a9b2);
  --accent: light-dark(#2450c9, #8fb0ff);
  --accent-ink: light-dark(#ffffff, #0c1430);
  --accent-soft: light-dark(#e9eefc, #1c2745);
  --good: light-dark(#17693f, #6fd3a0);
  --good-soft: light-dark(#e3f3ea, #14301f);
  --warn: light-dark(#7d4f00, #f0c067);
  --warn-soft: light-dark(#fbf0d9, #35290f);
  --bad: light-dark(#a8231a, #ff9b91);
  --bad-soft: light-dark(#fcebe9, #3b1a18);
  --s1: .25rem; --s2: .5rem; --s3: .75rem; --s4: 1rem; --s5: 1.5rem; --s6: 2rem; --s7: 3rem;
  --radius: 8px;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --sans: Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
}
*, *::before, *::after { box-sizing: border-box; }
html { font: 400 .875rem/1.5 var(--sans); background: var(--bg); color: var(--text); -webkit-text-size-adjust: 100%; }
body { margin: 0; min-height: 100vh; }
h1, h2, h3, p, dl, dd, ul, ol, figure, pre, fieldset { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1 { font-size: 1.5rem; line-height: 1.25; font-weight: 650; letter-spacing: -.015em; }
h2 { font-size: 1rem; line-height: 1.4; font-weight: 650; letter-spacing: -.005em; }
h3 { font-size: .875rem; font-weight: 650; }
small, .small { font-size: .8125rem; }
a { color: var(--accent); text-decoration: underline; text-decoration-color: color-mix(in srgb, var(--accent) 35%, transparent); text-underline-offset: .18em; }
a:hover { text-decoration-color: currentColor; }
code, pre, .mono { font-family: var(--mono); font-size: .8125rem; }
code { unicode-bidi: isolate; }
:focus-visible, input[type=datetime-local]:focus-within { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: var(--s4); top: -4rem; background: var(--accent); color: var(--accent-ink); padding: var(--s2) var(--s4); border-radius: var(--radius); z-index: 9; }
.skip:focus { top: var(--s4); }
.muted { color: var(--muted); }
.nowrap { white-space: nowrap; }
.number { font-variant-numeric: tabular-nums; text-align: right; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.frame { display: grid; grid-template-columns: 14.5rem minmax(0, 1fr); min-height: 100vh; }
.side { background: var(--surface); border-right: 1px solid var(--line); padding: var(--s5) var(--s3); display: flex; flex-direction: column; gap: var(--s5); position: sticky; top: 0; height: 100vh; overflow-y: auto; }
.brand { display: flex; align-items: center; gap: var(--s2); padding: 0 var(--s3); color: inherit; text-decoration: none; font-weight: 650; letter-spacing: -.01em; }
.brand svg { width: 20px; height: 20px; color: var(--accent); flex: none; }
.nav { display: flex; flex-direction: column; gap: var(--s4); position: static; inset: auto; margin: 0; padding: 0; border: 0; width: auto; height: auto; background: none; color: inherit; overflow: visible; }
.menu { display: none; }
.nav h2 { font-size: .75rem; font-weight: 600; color: var(--muted); padding: 0 var(--s3); margin-bottom: var(--s1); letter-spacing: .01em; }
.nav a { display: flex; align-items: center; justify-content: space-between; gap: var(--s2); padding: .375rem var(--s3); border-radius: 6px; color: var(--text); text-decoration: none; }
.nav a:hover { background: var(--raised); }
.nav a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 600; }
.count { font-size: .75rem; font-weight: 600; background: var(--accent); color: var(--accent-ink); border-radius: 99px; padding: 0 .45rem; line-height: 1.25rem; font-variant-numeric: tabular-nums; }
.who { margin-top: auto; padding: var(--s4) var(--s3) 0; border-top: 1px solid var(--line); display: grid; gap: var(--s1); }
.who strong { font-weight: 600; overflow-wrap: anywhere; }
.who button { justify-self: start; margin-top: var(--s2); }

main { overflow-wrap: anywhere; padding: var(--s6) var(--s6) var(--s7); max-width: 84rem; width: 100%; display: grid; gap: var(--s6); align-content: start; grid-template-columns: minmax(0, 1fr); }
.head { display: grid; gap: var(--s2); }
.head .row { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s3); align-items: center; }
.crumbs { font-size: .8125rem; color: var(--muted); }
.lede { color: var(--muted); max-width: 46rem; }
section { display: grid; gap: var(--s3); grid-template-columns: minmax(0, 1fr); }
.title { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: var(--s2) var(--s4); }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); }
.pad { padding: var(--s4) var(--s5); }
.stack { display: grid; gap: var(--s4); grid-template-columns: minmax(0, 1fr); }
.split { display: grid; grid-template-columns: minmax(0, 1fr) 20rem; gap: var(--s6); align-items: start; }
.rail { display: grid; gap: var(--s4); position: sticky; top: var(--s5); }

.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); overflow: hidden; }
.tile { padding: var(--s4) var(--s5); color: inherit; text-decoration: none; display: grid; gap: var(--s1); border-right: 1px solid var(--line); box-shadow: 0 1px 0 var(--line); }
.tile:last-child { border-right: 0; }
a.tile:hover { background: var(--raised); }
.tile dt, .tile .label { color: var(--muted); font-size: .8125rem; }
.tile .value { font-size: 1.75rem; line-height: 1.15; font-weight: 600; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.tile .value.alert { color: var(--bad); }
.tile .value.ask { color: var(--accent); }

.badge { display: inline-flex; align-items: center; gap: .375rem; font-size: .75rem; font-weight: 600; line-height: 1.375rem; padding: 0 .5rem; border-radius: 5px; background: var(--raised); color: var(--muted); white-space: nowrap; }
.badge::before { content: ""; width: .4375rem; height: .4375rem; border-radius: 50%; background: currentColor; flex: none; }
.badge.good { background: var(--good-soft); color: var(--good); }
.badge.warn { background: var(--warn-soft); color: var(--warn); }
.badge.bad { background: var(--bad-soft); color: var(--bad); }
.badge.ask { background: var(--accent-soft); color: var(--accent); }

table { border-collapse: collapse; width: 100%; }
.scroll { overflow-x: auto; }
th { text-align: left; font-size: .75rem; font-weight: 600; color: var(--muted); padding: var(--s2) var(--s4); border-bottom: 1px solid var(--line); white-space: nowrap; }
td { min-width: 7rem; padding: .625rem var(--s4); border-bottom: 1px solid var(--line); vertical-align: top; }
td.number { min-width: 0; white-space: nowrap; }
tr:last-child > td { border-bottom: 0; }
tbody tr:hover { background: var(--raised); }
td button, td .button { min-height: 1.875rem; padding: .1875rem .625rem; font-size: .8125rem; }
td form + form { margin-top: var(--s1); }
td form { display: inline-grid; }
td form.actions { display: inline-flex; flex-wrap: nowrap; gap: var(--s2); }
td.tight, th.tight { width: 1%; min-width: 0; white-space: nowrap; }
th.number { text-align: right; }

.list > li { border-bottom: 1px solid var(--line); }
.list > li:last-child { border-bottom: 0; }
.entry { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: var(--s1) var(--s4); padding: var(--s4) var(--s5); color: inherit; text-decoration: none; }
a.entry:hover { background: var(--raised); }
.entry strong { font-weight: 600; }
.entry .meta { grid-column: 1 / -1; color: var(--muted); font-size: .8125rem; display: flex; flex-wrap: wrap; gap: var(--s1) var(--s4); }

.facts { display: grid; grid-template-columns: minmax(6.5rem, max-content) minmax(0, 1fr); gap: var(--s2) var(--s4); }
.facts dt { color: var(--muted); }
.rail .facts { grid-template-columns: minmax(0, 1fr); gap: 0; }
.rail .facts dd { margin-bottom: var(--s3); }
.rail .facts dd:last-child { margin-bottom: 0; }

.finding { padding: var(--s4) var(--s5); display: grid; gap: var(--s3); border-top: 1px solid var(--line); grid-template-columns: minmax(0, 1fr); }
.finding:first-of-type { border-top: 0; }
.finding > .what { font-weight: 600; }
.finding .where { color: var(--muted); font-size: .8125rem; display: flex; flex-wrap: wrap; gap: var(--s1) var(--s3); }
.level { display: flex; gap: var(--s3); align-items: center; padding: var(--s3) var(--s5); border-bottom: 1px solid var(--line); background: var(--raised); }
.level:not(:first-child) { border-top: 1px solid var(--line); }
.card > .level:first-child { border-radius: var(--radius) var(--radius) 0 0; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: var(--s3); }
.pair > * { min-width: 0; }
.side-label { font-size: .75rem; font-weight: 600; color: var(--muted); margin-bottom: var(--s1); }
pre { padding: var(--s3); border-radius: 6px; background: var(--raised); overflow-x: auto; line-height: 1.55; white-space: pre; }
pre.before { background: var(--bad-soft); }
pre.after { background: var(--good-soft); }
pre.wrap { white-space: pre-wrap; }
.diff { table-layout: fixed; font-family: var(--mono); font-size: .75rem; line-height: 1.6; }
.diff td { min-width: 0; padding: 0 var(--s2); border: 0; white-space: pre-wrap; }
.diff td.line { width: 3.5rem; text-align: right; color: var(--muted); user-select: none; }
.diff td.gone { background: var(--bad-soft); }
.diff td.new { background: var(--good-soft); }
.diff tr:hover { background: none; }
.diff tr.gap td { color: var(--muted); background: var(--raised); padding: var(--s1) var(--s3); font-family: var(--sans); }

.change { font-family: var(--mono); font-size: .8125rem; display: flex; flex-wrap: wrap; gap: var(--s1) var(--s2); align-items: baseline; }
del, ins { text-decoration: none; padding: 0 .375rem; border-radius: 4px; white-space: pre-wrap; }
del { background: var(--bad-soft); color: var(--bad); }
ins { background: var(--good-soft); color: var(--good); }
.search { display: flex; gap: var(--s2); }
.search label { flex: 1; }
.search button { flex: none; }
.part { padding: var(--s3) var(--s5); border-bottom: 1px solid var(--line); }
.part:last-child { border-bottom: 0; }
.part > summary { width: auto; color: inherit; }
.part h3 { margin: var(--s3) 0 var(--s2); }
.fields { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 2fr); gap: var(--s1) var(--s4); }
.required { color: var(--bad); font-size: .75rem; font-weight: 600; }
code.whole { grid-column: 1 / -1; background: var(--raised); padding: var(--s2) var(--s3); border-radius: 6px; white-space: pre-wrap; }
textarea.pack { font-family: var(--mono); font-size: .8125rem; min-height: 8rem; }
details > summary { cursor: pointer; color: var(--accent); width: fit-content; }
details[open] > summary { margin-bottom: var(--s2); }
.plain { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s2); }
.plain > li { padding: 0 .4375rem; border: 1px solid var(--line); border-radius: 5px; }
.none { color: var(--muted); font-family: var(--sans); }

form { display: grid; gap: var(--s4); }
label, .label-text { display: grid; gap: var(--s1); font-weight: 600; font-size: .8125rem; }
.hint { font-weight: 400; color: var(--muted); font-size: .8125rem; }
input, select, textarea { font: inherit; font-weight: 400; min-width: 0; color: inherit; background: var(--surface); border: 1px solid var(--line-strong); border-radius: 6px; padding: .5rem .625rem; width: 100%; min-height: 2.25rem; }
textarea { min-height: 5rem; resize: vertical; }
textarea.code { font-family: var(--mono); font-size: .8125rem; min-height: 18rem; white-space: pre; }
input[type=checkbox] { width: auto; min-height: 0; accent-color: var(--accent); }
.check { display: flex; align-items: center; gap: var(--s2); font-weight: 400; }
button, .button { font: inherit; font-weight: 600; overflow-wrap: break-word; }
button, .button { cursor: pointer; border-radius: 6px; border: 1px solid var(--line-strong); background: var(--surface); color: var(--text); padding: .4375rem .875rem; min-height: 2.25rem; text-decoration: none; display: inline-flex; align-items: center; justify-content: center; }
a.jump { display: none; }
button:hover, .button:hover { background: var(--raised); }
button.primary, a.primary { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); }
button.primary:hover, a.primary:hover { background: color-mix(in srgb, var(--accent) 88%, var(--text)); }
button.danger { color: var(--bad); border-color: color-mix(in srgb, var(--bad) 60%, transparent); }
button.quiet { font-weight: 500; border-color: transparent; background: none; color: var(--muted); padding: .25rem 0; min-height: 1.75rem; }
button.quiet:hover { color: var(--text); text-decoration: underline; }
.actions { display: flex; gap: var(--s3); flex-wrap: wrap; }
.actions > button { flex: 1; }
.filters { display: flex; flex-wrap: wrap; gap: var(--s3); align-items: end; }
.filters label { flex: 1 1 9rem; min-width: min(100%, 9rem); }
.filters input, .filters select { height: 2.25rem; padding-block: 0; }
.filters .times { flex: 1 1 100%; display: flex; flex-wrap: wrap; gap: var(--s3); align-items: end; }
.filters .times label { flex: 0 1 15rem; }
.filters button { flex: none; }
.tabs { display: flex; flex-wrap: wrap; gap: var(--s1); }
.tabs a { padding: .25rem .75rem; border-radius: 99px; color: var(--muted); text-decoration: none; }
.tabs a:hover { background: var(--raised); }
.tabs a[aria-current] { background: var(--text); color: var(--bg); font-weight: 600; }

.notice { padding: var(--s3) var(--s4); border-radius: var(--radius); background: var(--accent-soft); display: grid; gap: var(--s1); overflow-wrap: anywhere; }
.notice.good { background: var(--good-soft); }
.notice.warn { background: var(--warn-soft); }
.notice.bad { background: var(--bad-soft); }
.empty { padding: var(--s6) var(--s5); display: grid; gap: var(--s1); justify-items: start; color: var(--muted); }
.empty strong { color: var(--text); font-weight: 600; }
.meter { display: block; width: 100%; height: 6px; }
.meter rect.track { fill: var(--raised); }
.bar-good { fill: var(--good); } .bar-warn { fill: var(--warn); } .bar-ask { fill: var(--accent); } .bar-bad { fill: var(--bad); }
.chart { display: block; width: 100%; height: 7rem; border-bottom: 1px solid var(--line-strong); }
.axis { display: flex; justify-content: space-between; color: var(--muted); font-size: .75rem; }
.legend { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s4); font-size: .8125rem; color: var(--muted); }
.legend span { display: inline-flex; align-items: center; gap: .375rem; }
.legend svg { width: .625rem; height: .625rem; }
.timeline > li { display: grid; grid-template-columns: 1rem minmax(0, 1fr); gap: 0 var(--s3); padding-bottom: var(--s4); position: relative; }
.timeline > li::before { content: ""; width: .5rem; height: .5rem; border-radius: 50%; background: var(--line-strong); margin: .4rem 0 0 .25rem; }
.timeline > li:not(:last-child)::after { content: ""; position: absolute; left: .4375rem; top: 1.125rem; bottom: -.25rem; width: 1px; background: var(--line); }
.timeline > li > div { display: grid; gap: 0; }

.gate { min-height: 100vh; display: grid; place-items: center; padding: var(--s4); }
.gate .card { width: 100%; max-width: 25rem; padding: var(--s6); display: grid; gap: var(--s5); }
.gate h1 { font-size: 1.25rem; }
.gate .brand { padding: 0; }

@media (max-width: 60rem) {
  a.jump { display: inline-flex; }
  .split { grid-template-columns: minmax(0, 1fr); }
  .rail { position: static; }
}
@media (max-width: 48rem) {
  .frame { grid-template-columns: minmax(0, 1fr); grid-template-rows: auto 1fr; }
  .side { position: static; height: auto; padding: var(--s2) var(--s4); gap: var(--s3); border-right: 0; border-bottom: 1px solid var(--line); display: grid; grid-template-columns: minmax(0, 1fr) auto auto; align-items: center; }
  .side .brand { padding: 0; }
  .menu { display: inline-flex; }
  .nav[popover]:not(:popover-open) { display: none; }
  .nav:popover-open { display: flex; position: fixed; inset: 0 0 0 auto; width: min(18rem, 85vw); height: 100vh; overflow-y: auto; padding: var(--s5) var(--s3); background: var(--surface); border-left: 1px solid var(--line); }
  .nav::backdrop { background: rgb(0 0 0 / .4); }
  .who { margin: 0; padding: 0; border: 0; justify-items: end; grid-row: 1; grid-column: 2; display: flex; align-items: center; gap: var(--s3); }
  .who span { display: none; }
  .who strong { display: none; }
  .who button { margin: 0; white-space: nowrap; }
  main { padding: var(--s5) var(--s4) var(--s6); gap: var(--s5); }
  .pair { grid-template-columns: minmax(0, 1fr); }
  .pad, .entry, .finding, .level { padding-left: var(--s4); padding-right: var(--s4); }
  .facts { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .facts dd { margin-bottom: var(--s2); }
  .tiles { grid-template-columns: 1fr 1fr; }
  .tile { padding: var(--s3) var(--s4); }
  button, .button, input, select { min-height: 2.75rem; }
  .nav a, td button { min-height: 2.75rem; }
  .rows { display: block; }
  .rows thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .rows tbody { display: block; }
  .rows tr { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s4); padding: var(--s3) var(--s4); border-bottom: 1px solid var(--line); }
  .rows tr:last-child { border-bottom: 0; }
  .rows td { display: block; width: auto; min-width: 0; max-width: 100%; padding: 0; border: 0; text-align: left; white-space: normal; }
  .rows td::before { content: attr(data-label); color: var(--muted); font-size: .8125rem; margin-right: var(--s2); }
  .rows td:has(form) { display: flex; align-items: center; }
  .rows td:first-child { flex-basis: 100%; }
  .rows td:first-child::before { content: none; }
  .rows td:empty { display: none; }
  .diff thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .diff, .diff tbody { display: block; }
  .diff tr { display: grid; grid-template-columns: 3rem minmax(0, 1fr); }
  .diff tr.gap { display: block; }
  .diff tr.gap td { display: block; }
  .diff td.line { width: auto; }
  .diff td.gone::before { content: "− "; }
  .diff td.new::before { content: "+ "; }
  .filters .times label { flex: 1 1 9rem; }
  .diff tr.same td:nth-child(-n + 2), .diff td.none, .diff td.line:has(+ td.none) { display: none; }
  .fields { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .fields dd { margin-bottom: var(--s2); }
}
@media (prefers-reduced-motion: no-preference) { a, button { transition: background-color .12s, color .12s; } }
@media print { .side, form { display: none; } .frame { display: block; } }
`
