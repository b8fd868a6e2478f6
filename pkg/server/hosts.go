package server

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"guidon/pkg/jsonbody"
)

// hostsOfMachine are the names of this machine: those that only it, its container engine or its resolver can answer for.
var hostsOfMachine = []string{"localhost", "host.docker.internal", "host.containers.internal"}

// onlyThisMachine refuses requests for other names if the server listens on loopback. A web page could otherwise have its own name
// resolve to 127.0.0.1, and read and change flags as a page of the same origin (DNS rebinding).
func (s settings) onlyThisMachine(next http.Handler) http.Handler {
	if !net.ParseIP(s.host).IsLoopback() {
		return next
	}
	hosts := hostsOfMachine
	if public, err := url.Parse(s.config.PublicURL); err == nil && public.Host != "" {
		hosts = append(slices.Clone(hosts), strings.ToLower(public.Hostname()))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := strings.ToLower((&url.URL{Host: r.Host}).Hostname())
		if net.ParseIP(host) == nil && !slices.Contains(hosts, host) && !strings.HasSuffix(host, ".localhost") && host != "" {
			writeError(w, http.StatusForbidden, "NoAccessError", "this server is for its own machine only, and "+jsonbody.Shorten(r.Host)+
				" is not a name of it: use 127.0.0.1 or localhost, or set PUBLIC_URL to the address that people use")
			return
		}
		next.ServeHTTP(w, r)
	})
}
