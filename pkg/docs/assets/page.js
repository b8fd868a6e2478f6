// Shows the description of the API. Requests that are tried have the session of the console.
let chosen;
try {
  chosen = localStorage.getItem("guidon-theme");
} catch {
  // Storage is blocked: the theme of the system applies.
}
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
const system = matchMedia("(prefers-color-scheme: dark)");

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
  spec.info.description += `

    curl -H "Authorization: $GUIDON_TOKEN" ${location.origin}/api/admin/projects

Scripts use a [personal token](/profile) or the token of a [service account](/service-accounts), and applications an [API token](/tokens).`;
  await customElements.whenDefined("rapi-doc");
  await page.loadSpec(spec);
}

void loadFont();
void show();
