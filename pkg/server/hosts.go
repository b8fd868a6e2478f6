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

// onlyOwnNames refuses requests for names that are not this server's, if it listens on loopback or needs no token. A web page could
// otherwise have its own name resolve to the server, and read and change flags as a page of the same origin (DNS rebinding). Beside
// loopback, a name without a dot is the server's, too: the resolver of a network of containers answers for it.
func (s settings) onlyOwnNames(next http.Handler) http.Handler {
	local := net.ParseIP(s.host).IsLoopback()
	if !local && !s.config.Open {
		return next
	}
	reason := "needs no token"
	if local {
		reason = "is for its own machine only"
	}
	hosts := hostsOfMachine
	if public, err := url.Parse(s.config.PublicURL); err == nil && public.Host != "" {
		hosts = append(slices.Clone(hosts), strings.ToLower(public.Hostname()))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := strings.ToLower((&url.URL{Host: r.Host}).Hostname())
		own := net.ParseIP(host) != nil || slices.Contains(hosts, host) || strings.HasSuffix(host, ".localhost") || host == "" ||
			!local && !strings.Contains(host, ".")
		if !own {
			writeError(w, http.StatusForbidden, "NoAccessError", "this server "+reason+", and "+jsonbody.Shorten(r.Host)+
				" is not known to be a name of it: use its IP address, or set PUBLIC_URL to the address that people use")
			return
		}
		next.ServeHTTP(w, r)
	})
}
