// Package console has the files of the web console, which `make console` builds into dist from the sources beside it. The function
// site serves them.
package console

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"guidon/pkg/httpapi"
)

// The pattern includes files that begin with a dot, because a clean clone has only dist/.gitignore.
//
//go:embed all:dist
var dist embed.FS

// Policy is the Content-Security-Policy of the console: it loads files of this host only, and has no inline scripts or styles.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

var headers = map[string]string{
	"Content-Security-Policy":      Policy,
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
	"Referrer-Policy":              "same-origin",
}

// notBuilt is the page of a program without the console. It has the status 404.
const notBuilt = `<!doctype html>
<html lang="en">
<title>Guidon</title>
<h1>The console is not built</h1>
<p>This program was built without the web console. Run <code>make console</code> in the repository, then build and start Guidon again.
The API works without it: see <a href="/docs">/docs</a>.</p>
</html>
`

// types has the content type of each kind of file.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".json": "application/json; charset=utf-8", ".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json",
	".ico": "image/x-icon", ".png": "image/png", ".svg": "image/svg+xml", ".webp": "image/webp", ".woff2": "font/woff2",
}

// Site returns the embedded console.
var Site = sync.OnceValue(func() *httpapi.Site {
	files, err := fs.Sub(dist, "dist")
	if err == nil {
		var site *httpapi.Site
		if site, err = read(files); err == nil {
			return site
		}
	}
	panic(err) // the files are embedded, so this is a defect of the build
})

// read returns the files of a built console, or the page notBuilt if it has no index.html. A file with .gz at the end of its name
// is the compressed form of the file without it.
func read(files fs.FS) (*httpapi.Site, error) {
	site := &httpapi.Site{Files: map[string]httpapi.File{}}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		hidden := name != "." && strings.HasPrefix(entry.Name(), ".")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && hidden:
			return fs.SkipDir
		case entry.IsDir(), hidden:
			return nil
		}
		plain, gzipped := strings.CutSuffix(name, ".gz")
		if _, err := fs.Stat(files, name+".gz"); err == nil {
			return nil // the compressed form is served
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		file := httpapi.File{Type: types[path.Ext(plain)], Gzipped: gzipped, Immutable: strings.HasPrefix(plain, "assets/"), Headers: headers}
		if file.Type == "" {
			return fmt.Errorf("the console has the file %s, whose content type is not known", name)
		}
		file.Content, err = fs.ReadFile(files, name)
		site.Files["/"+plain] = file
		return err
	})
	if err != nil {
		return nil, err
	}
	const index = "/index.html"
	page, built := site.Files[index]
	if !built {
		page = httpapi.File{Type: types[".html"], Content: []byte(notBuilt), Status: 404, Headers: headers}
	}
	delete(site.Files, index)
	site.Page = page
	return site, nil
}
