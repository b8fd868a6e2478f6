// Shows the description of the API. Requests that are tried have the session of the console.
let chosen;
try {
  chosen = localStorage.getItem("guidon-theme");
} catch {
  // Storage is blocked: the theme of the system applies.
}
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
const system = matchMedia("(prefers-color-scheme: dark)");

// RapiDoc writes its headings in capitals, and shows the server and whether a token is needed in each operation. On phones the titles of
// operations say more than their paths.
const style = `
  .req-res-title, .table-title, .resp-headers, .tab-btn, .m-btn { text-transform: lowercase; }
  .req-res-title::first-letter, .table-title::first-letter, .resp-headers::first-letter, .tab-btn::first-letter, .m-btn::first-letter { text-transform: uppercase; }
  .req-res-title { font-size: 16px; font-weight: 600; }
  .table-title, .resp-headers, .bold-text { font-weight: 500; }
  .table-title.row { display: block; }
  .upper { text-transform: capitalize !important; }
  .hide-in-small-screen { visibility: hidden; }
  @media (max-width: 767px) {
    .endpoint-head .path { display: none !important; }
    .endpoint-head .descr { display: block !important; color: inherit !important; font-size: 14px !important; }
  }`;
const attachShadow = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) {
  const root = attachShadow.call(this, options);
  root.append(Object.assign(document.createElement("style"), { textContent: style }));
  return root;
};

// Regular expressions say less than the texts of the description.
function withoutPatterns(value) {
  if (typeof value !== "object" || value === null) return;
  if (typeof value.pattern === "string") delete value.pattern;
  for (const child of Object.values(value)) withoutPatterns(child);
}

const page = document.createElement("rapi-doc");
const attributes = {
  "render-style": innerWidth < 768 ? "view" : "focused", // the list of operations needs a wide page
  "show-header": "false",
  "allow-server-selection": "false",
  "allow-advanced-search": "false",
  "default-schema-tab": "example",
  "schema-style": "table",
  "fetch-credentials": "same-origin",
  "load-fonts": "false",
  "regular-font": "Inter, system-ui, sans-serif",
  "mono-font": "'JetBrains Mono', ui-monospace, Menlo, Consolas, monospace",
  "font-size": "default",
  "nav-item-spacing": "compact",
  "show-method-in-nav-bar": "as-colored-text",
  "on-nav-tag-click": "expand-collapse",
  "show-components": "false",
};
for (const [name, value] of Object.entries(attributes)) page.setAttribute(name, value);

const light = { theme: "light", "bg-color": "#ffffff", "text-color": "#1a1c23", "primary-color": "#4338ca", "nav-bg-color": "#f8f8fa", "nav-text-color": "#1a1c23" };
const dark = { theme: "dark", "bg-color": "#121317", "text-color": "#ececf1", "primary-color": "#a5b4fc", "nav-bg-color": "#0e0f12", "nav-text-color": "#ececf1" };
function paint() {
  const isDark = chosen === "dark" || (chosen !== "light" && system.matches);
  for (const [name, value] of Object.entries(isDark ? dark : light)) page.setAttribute(name, value);
}
paint();
system.addEventListener("change", paint);

page.addEventListener("before-try", ({ detail }) => detail.request.headers.append("X-Guidon-Console", "1"));
document.querySelector("main").append(page);

// The console's font, whose name has a hash.
async function loadFont() {
  const index = await (await fetch("/", { headers: { Accept: "text/html" } })).text();
  const path = /href="(\/[^"]+\.woff2)"/.exec(index)?.[1];
  if (path) document.fonts.add(await new FontFace("Inter", `url(${path})`, { weight: "400 600" }).load());
}

async function show() {
  const [description, user] = await Promise.all([fetch("/docs/openapi.json"), fetch("/api/admin/user")]);
  const spec = await description.json();
  const session = document.getElementById("session");
  if (user.ok) {
    const me = (await user.json()).user;
    session.textContent = `Requests run as ${me.name || me.email || me.username}`;
    // The session is enough, so the page asks for no token.
    delete spec.security;
    delete spec.components.securitySchemes;
    page.setAttribute("allow-authentication", "false");
  } else {
    const link = document.createElement("a");
    link.href = "/sign-in";
    link.textContent = "Sign in to try requests";
    session.append(link);
  }
  delete spec.info.license;
  withoutPatterns(spec.paths);
  withoutPatterns(spec.components.schemas);
  spec.info.title = "Guidon API";
  spec.info.description = `${spec.info.description.split(". ")[0]}.

### Base URL

    ${location.origin}

### First request

    curl -H "Authorization: $GUIDON_TOKEN" ${location.origin}/api/admin/projects

| You write | Use |
|---|---|
| a script that acts as you | a [personal token](/profile) |
| a pipeline | a token of a [service account](/service-accounts) |
| an application that reads flags | an [API token](/tokens), as [Connect](/connect) shows |

### Errors

All errors have the same form: \`name\`, \`message\`, and \`details\` with the place in the body. They are checked in this order.

| Status | Meaning |
|---|---|
| 401 | No valid token or session |
| 403 | The permission is missing; the message names it |
| 415, 413 | The body is not JSON, or too large |
| 400 | A field is wrong; unknown fields are ignored |
| 404 | The item does not exist |
| 409 | The name is taken, or other items depend on it |
| 412 | Someone else changed it since (\`If-Match\`) |

A change is made completely or not at all.`;
  await customElements.whenDefined("rapi-doc");
  await page.loadSpec(spec);
}

void loadFont();
void show();
