// SPDX-License-Identifier: Apache-2.0

extension ReportPage {
  /// The colours of the live page (Sources/sextant/LivePage/Page/page.css). A test compares them.
  package static let palette = """
      --back: light-dark(#f3f4f6, #0f1216);
      --card: light-dark(#fff, #171b20);
      --text: light-dark(#1b1f24, #e4e7ea);
      --soft: light-dark(#5a646e, #98a2ad);
      --edge: light-dark(#dfe3e8, #2a3037);
      --accent: light-dark(#0b61c4, #6ab0ff);
      --band: light-dark(#b9d4f3, #27476b);
      --good: light-dark(#1a7f45, #4cc283);
      --warn: light-dark(#9a5b00, #e3a548);
      --bad: light-dark(#c22b2b, #ff7b73);
      --GPS: light-dark(#2f7ed8, #5b9df0);
      --SBAS: light-dark(#7a7f86, #9aa1a9);
      --Galileo: light-dark(#24963a, #4cc261);
      --BeiDou: light-dark(#d0392f, #f0685e);
      --QZSS: light-dark(#8a5cbf, #b48ae0);
      --GLONASS: light-dark(#c87600, #f0a23a);
      --NavIC: light-dark(#0f93a5, #3fcfe0);
    """

  /// Texts have the same size at every width: only lines and areas of pictures are stretched.
  static let style = """
    :root{color-scheme:light dark;
    \(palette)}
    *{box-sizing:border-box}
    body{margin:0;background:var(--back);color:var(--text);font:14px/1.45 Inter,system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;font-variant-numeric:tabular-nums}
    main{display:grid;gap:12px;padding:12px 16px 24px;grid-template-columns:repeat(12,minmax(0,1fr));max-width:1920px;margin:0 auto}
    .card{grid-column:span 12;min-width:0;padding:12px 14px;background:var(--card);border:1px solid var(--edge);border-radius:10px}
    h1{font-size:1.35rem;margin:0;overflow-wrap:anywhere}h2{font-size:.95rem;font-weight:600;margin:0 0 8px}h3{font-size:.9rem;font-weight:500;margin:0 0 6px;color:var(--soft);overflow-wrap:anywhere}
    h2 small,p,summary{color:var(--soft);font-weight:400;font-size:.85rem}p{margin:6px 0 0;overflow-wrap:anywhere}summary{cursor:pointer;margin-top:8px}
    dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(128px,1fr));gap:10px 20px;margin:12px 0 0}
    dt{color:var(--soft);font-size:.85rem}dd{margin:0;font-size:1.15rem;font-weight:500}dd small{display:block;color:var(--soft);font-weight:400;font-size:.8rem}
    .good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}
    .wide{overflow-x:auto}table{border-collapse:collapse;width:100%}
    th,td{text-align:left;padding:3px 12px 3px 0;border-bottom:1px solid var(--edge);vertical-align:baseline}th{color:var(--soft);font-weight:500;font-size:.85rem}
    td.n,th.n{text-align:right}.key td{font-size:1.05rem;font-weight:500}.key td:first-child{font-size:.85rem;font-weight:400;color:var(--soft)}tr:last-child td{border-bottom:0}
    .key small{color:var(--soft);font-weight:400;font-size:.85rem}.bar{fill:none;stroke:var(--soft)}.files{display:grid;gap:8px 24px;grid-template-columns:repeat(auto-fit,minmax(min(100%,var(--least,300px)),1fr))}.files>div{min-width:0}
    svg{display:block;width:100%}svg text{fill:var(--soft);font-size:11px}.square{max-width:420px;margin:0 auto}
    .axis{fill:none;stroke:var(--edge);vector-effect:non-scaling-stroke}.line,.points,.band,.circle{fill:none;vector-effect:non-scaling-stroke}
    .line{stroke:var(--accent);stroke-width:1.5}.band{stroke:var(--band);stroke-width:2}.points{stroke:var(--accent);stroke-width:2.4;stroke-linecap:round;opacity:.5}
    .circle{stroke:var(--warn);stroke-width:1.4;stroke-dasharray:5 4}.trail{fill:none;stroke:currentColor;opacity:.35}.dot{fill:currentColor}.ring{fill:none;stroke:currentColor;stroke-width:1.6}
    .chart{display:grid;grid-template-columns:auto minmax(0,1fr);gap:2px 6px;font-size:12px;color:var(--soft)}.chart svg{height:120px}.chart .y{position:relative;text-align:right;white-space:nowrap}
    .y b{display:block;visibility:hidden;height:0;font-weight:400}.y span{position:absolute;right:0;transform:translateY(-50%)}.x{grid-column:2;display:flex;justify-content:space-between}
    .bars{display:flex;gap:2px;overflow-x:auto;padding-top:18px;font-size:11px;color:var(--soft)}
    .bars>div{flex:1 0 13px;max-width:34px}.bars .v{position:relative;height:170px;border-bottom:1px solid var(--edge);background:repeating-linear-gradient(to top,var(--edge) 0 1px,#0000 1px 18.18%)}
    .v i{position:absolute;bottom:0;left:8%;right:8%;background:currentColor;border:1px solid currentColor}.v .open{background:none}.v s{position:absolute;left:50%;border-left:1px solid var(--text);opacity:.55}
    .bars u{display:block;writing-mode:vertical-rl;transform:rotate(180deg);margin:4px auto 0;text-decoration:none;color:var(--soft);line-height:13px}
    .bars .scale{flex:0 0 20px;max-width:20px}.scale .v{background:none;border-color:#0000}.scale span{position:absolute;right:4px;transform:translateY(50%)}
    table:not(.key) th:not(:first-child){text-align:right}.tall{max-height:440px;overflow:auto}
    .c0{color:var(--GPS)}.c1{color:var(--SBAS)}.c2{color:var(--Galileo)}.c3{color:var(--BeiDou)}.c5{color:var(--QZSS)}.c6{color:var(--GLONASS)}.c7{color:var(--NavIC)}
    @media(min-width:760px){.w4,.w5,.w3,.w6{grid-column:span 6}}
    @media(min-width:1300px){.w3{grid-column:span 3}.w4{grid-column:span 4}.w5{grid-column:span 5}}
    @media(max-width:759px){main{padding:8px;gap:8px}.card{padding:10px}dl{grid-template-columns:repeat(2,1fr)}th,td{padding-right:8px}}
    @media print{.tall{max-height:none}:root{color-scheme:light}body{background:#fff;font-size:12px;print-color-adjust:exact}main{padding:0;gap:6px}.card{break-inside:avoid}dl{grid-template-columns:repeat(4,1fr)}.w3,.w4{grid-column:span 4}.w5{grid-column:span 8}.w6{grid-column:span 6}.bars{overflow:hidden}.bars>div{flex-basis:8px}}
    """
}
