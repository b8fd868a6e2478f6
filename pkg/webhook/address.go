package webhook

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Networks are the networks that messages can be sent to, although they are not part of the public internet. The zero value
// has none.
type Networks struct {
	allowed []netip.Prefix
}

// privateNetworks are what the setting "true" allows: private networks and carrier-grade NAT. The machine itself must be named: in
// a Lambda function, the interface to Lambda is there.
var privateNetworks = prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")

// metadata are the addresses at which clouds hand out credentials and settings. No setting allows them.
var metadata = prefixes(
	"169.254.169.254/32", "169.254.170.0/24", // AWS, Google, Azure and others; AWS's containers
	"fd00:ec2::/32",                        // AWS
	"fd20:ce::254/128",                     // Google
	"168.63.129.16/32",                     // Azure
	"100.100.100.200/32", "192.0.0.192/32", // Alibaba, Oracle
)

// reserved are the networks of the IANA registries of special-purpose addresses that are not globally reachable, or whose
// addresses lead to others.
var reserved = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/4", "240.0.0.0/4",
	"2001::/23",         // protocol assignments, with Teredo
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
)

var (
	globalUnicast = netip.MustParsePrefix("2000::/3") // all IPv6 addresses of the public internet
	nat64         = netip.MustParsePrefix("64:ff9b::/96")
)

// ParseNetworks reads the setting WEBHOOK_PRIVATE_NETWORKS: "true" for private networks, or a list
// of networks such as 10.1.0.0/16,192.168.7.9/32. Empty or "false" allows none.
func ParseNetworks(text string) (Networks, error) {
	switch strings.TrimSpace(text) {
	case "", "false":
		return Networks{}, nil
	case "true":
		return Networks{privateNetworks}, nil
	}
	var n Networks
	for part := range strings.SplitSeq(text, ",") {
		prefix, err := netip.ParsePrefix(strings.TrimSpace(part))
		if err != nil || prefix != prefix.Masked() {
			return Networks{}, fmt.Errorf("WEBHOOK_PRIVATE_NETWORKS: %q is not a network: use true, or networks such as 10.1.0.0/16, separated by commas", part)
		}
		n.allowed = append(n.allowed, prefix)
	}
	return n, nil
}

// CheckURL returns the reason why messages cannot be sent to a valid URL, if its host shows it: localhost, or an address that is not allowed.
// No names are looked up, so what other names lead to is only known when a message is sent.
func (n Networks) CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return err
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	addr, err := netip.ParseAddr(host)
	named := host == "localhost" || strings.HasSuffix(host, ".localhost")
	if named && !n.Allow(netip.MustParseAddr("127.0.0.1")) && !n.Allow(netip.IPv6Loopback()) || err == nil && !n.Allow(addr) {
		return errNetwork
	}
	return nil
}

// Allow tells whether messages can be sent to the address.
func (n Networks) Allow(addr netip.Addr) bool {
	if addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap() // ::ffff:127.0.0.1 leads to 127.0.0.1
	if nat64.Contains(addr) {
		last := addr.As16()
		addr = netip.AddrFrom4([4]byte(last[12:])) // so does 64:ff9b::7f00:1, in networks that translate addresses
	}
	if !addr.IsValid() || contains(metadata, addr) {
		return false
	}
	return contains(n.allowed, addr) || public(addr)
}

func public(addr netip.Addr) bool {
	return (addr.Is4() || globalUnicast.Contains(addr)) && !contains(reserved, addr)
}

func contains(list []netip.Prefix, addr netip.Addr) bool {
	for _, prefix := range list {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}
