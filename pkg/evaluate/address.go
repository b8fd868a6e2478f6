package evaluate

import (
	"net/netip"
	"strings"
)

// addresses is a set of IP addresses and networks.
type addresses struct {
	single   map[netip.Addr]struct{}
	networks []netip.Prefix
}

// newAddresses compiles addresses such as 10.0.0.1 and networks such as 10.0.0.0/8. It ignores items that are neither.
func newAddresses(items []string) *addresses {
	a := &addresses{single: map[netip.Addr]struct{}{}}
	for _, item := range items {
		item = strings.TrimSpace(item)
		if address, ok := parseAddress(item); ok {
			a.single[address] = struct{}{}
		} else if network, err := netip.ParsePrefix(item); err == nil {
			a.networks = append(a.networks, unmapNetwork(network).Masked())
		}
	}
	return a
}

// ValidAddress reports whether the operator IN_CIDR understands a value: an address or a network, in IPv4 or IPv6.
func ValidAddress(value string) bool {
	a := newAddresses([]string{value})
	return len(a.single)+len(a.networks) > 0
}

func (a *addresses) has(address netip.Addr) bool {
	if _, found := a.single[address]; found {
		return true
	}
	for _, network := range a.networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// maxAddress is longer than any address without a zone.
const maxAddress = 64

// parseAddress parses an IP address. An IPv4 address that is written as an IPv6 one (::ffff:10.0.0.1) is the same as the
// IPv4 address. Addresses with a zone are refused: a zone has a meaning on one host only.
func parseAddress(s string) (netip.Addr, bool) {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > maxAddress {
		return netip.Addr{}, false
	}
	address, err := netip.ParseAddr(s)
	if err != nil || address.Zone() != "" {
		return netip.Addr{}, false
	}
	return address.Unmap(), true
}

// unmapNetwork does the same for networks.
func unmapNetwork(network netip.Prefix) netip.Prefix {
	const mapped = 96 // bits before the IPv4 address
	if network.Addr().Is4In6() && network.Bits() >= mapped {
		return netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-mapped)
	}
	return network
}
