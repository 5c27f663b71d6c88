/** Few colours, each with its dark one: some mail clients turn colours round themselves and read `color-scheme` before they do. */
export const MAIL_STYLE = `:root{color-scheme:light dark;supported-color-schemes:light dark}
body{margin:0 auto;max-width:36rem;padding:1.5rem;font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;color:#1b1f24;background:#ffffff}
h1{font-size:1.3rem;margin:0 0 1rem}h2{font-size:1.05rem;margin:1.5rem 0 .5rem}ul{margin:0;padding-left:1.2rem}li{margin:.4rem 0}
a{color:#0b57d0}small{color:#57606a}
@media (prefers-color-scheme:dark){body{color:#e6e9ed;background:#16191d}a{color:#8ab4f8}small{color:#a8b1bb}}`;
