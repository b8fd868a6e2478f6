// Package docs serves the OpenAPI description at /docs/openapi.json, and a page to browse it at /docs.
//
// The page is RapiDoc, which is embedded in the program and loads nothing from other hosts. It has a package of its own, so that only
// one function links it.
//
// In assets, index.html, page.css and page.js are Guidon's; the rest is from the npm package rapidoc as it was published, with its
// licenses, the bundle compressed by gzip -9n. For another version, replace these files, and set rapidoc in internal/release.
package docs

import (
	"embed"

	"guidon/infra"
	"guidon/pkg/httpapi"
	"guidon/pkg/version"
)

//go:embed assets/index.html assets/page.css assets/page.js assets/*.gz
var assets embed.FS

// policy allows only files of this host. RapiDoc needs inline styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Group contains the description and the page, which need no authentication.
func Group() httpapi.Group {
	const text, script = "; charset=utf-8", "text/javascript; charset=utf-8"
	return httpapi.Group{Name: "docs", Function: "site", Site: &httpapi.Site{Files: map[string]httpapi.File{
		"/docs":                {Type: "text/html" + text, Content: asset("index.html"), Headers: map[string]string{"Content-Security-Policy": policy}},
		"/docs/openapi.json":   {Type: "application/json" + text, Content: version.InDescription(infra.OpenAPI, version.Number())},
		"/docs/page.js":        {Type: script, Content: asset("page.js")},
		"/docs/page.css":       {Type: "text/css" + text, Content: asset("page.css")},
		"/docs/rapidoc-min.js": {Type: script, Content: asset("rapidoc-min.js.gz"), Gzipped: true},
	}}}
}

// asset is the content of an embedded file.
func asset(name string) []byte {
	content, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // the file is embedded, so this is a defect
	}
	return content
}
