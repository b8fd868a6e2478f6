package webhook

import (
	"net/netip"
	"testing"
)

func TestAddresses(t *testing.T) {
	const public, private, never = "public", "private", "never"
	kinds := map[string]string{
		"1.1.1.1": public, "52.95.110.1": public, "172.32.0.1": public, "100.128.0.1": public, "2606:4700::1111": public, "2a00:1450::1": public,
		"64:ff9b::808:808": public, "::ffff:8.8.8.8": public,

		"10.0.0.1": private, "172.16.0.1": private, "172.31.255.255": private, "192.168.1.1": private, "100.64.0.1": private,
		"127.0.0.1": never, "127.255.255.254": never, "::1": never, "fc00::1": private, "fd12:3456::1": private,
		"::ffff:127.0.0.1": never, "::ffff:10.1.2.3": private, "64:ff9b::7f00:1": never, "64:ff9b::a01:203": private,

		"0.0.0.0": never, "0.1.2.3": never, "::": never, "169.254.1.1": never, "169.254.169.254": never, "169.254.170.2": never,
		"fe80::1": never, "fe80::1%eth0": never, "fec0::1": never, "fd00:ec2::254": never, "::ffff:169.254.169.254": never,
		"64:ff9b::a9fe:a9fe": never, "64:ff9b:1::a9fe:a9fe": never, "168.63.129.16": never, "100.100.100.200": never, "192.0.0.192": never,
		"224.0.0.1": never, "239.255.255.250": never, "ff02::1": never, "255.255.255.255": never, "240.0.0.1": never,
		"192.0.2.1": never, "198.51.100.1": never, "203.0.113.1": never, "2001:db8::1": never, "3fff::1": never,
		"198.18.0.1": never, "192.88.99.1": never, "2002:7f00:1::": never, "2002:808:808::": never, "2001:0:7f00:1::": never,
		"::7f00:1": never, "::127.0.0.1": never, "100::1": never, "5f00::1": never, "4000::1": never,
	}
	none, err := ParseNetworks("")
	if err != nil {
		t.Fatal(err)
	}
	all, err := ParseNetworks("true")
	if err != nil {
		t.Fatal(err)
	}
	for text, kind := range kinds {
		addr := netip.MustParseAddr(text)
		if got := none.Allow(addr); got != (kind == public) {
			t.Errorf("%s without a setting: allowed %t, is %s", text, got, kind)
		}
		if got := all.Allow(addr); got != (kind != never) {
			t.Errorf("%s with private networks: allowed %t, is %s", text, got, kind)
		}
	}
	if all.Allow(netip.Addr{}) {
		t.Error("an invalid address is allowed")
	}
}

func TestListedNetworks(t *testing.T) {
	n, err := ParseNetworks("10.1.0.0/16, 192.168.7.9/32,169.254.0.0/16,fd12::/16,127.0.0.2/32")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "192.168.7.9": true, "169.254.9.9": true, "fd12::1": true, "8.8.8.8": true, "127.0.0.2": true,
		"10.2.0.1": false, "192.168.7.8": false, "127.0.0.1": false, "169.254.169.254": false, "fd13::1": false,
	} {
		if got := n.Allow(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: allowed %t, want %t", text, got, want)
		}
	}
	for _, text := range []string{"yes", "10.0.0.0", "10.0.0.1/8", "10.0.0.0/8,", "10.0.0.0/33", "TRUE"} {
		if _, err := ParseNetworks(text); err == nil {
			t.Errorf("%q is taken as a list of networks", text)
		}
	}
}

// TestHostsOfURLs checks which URLs are refused when they are saved: those whose host shows that the connection would be.
func TestHostsOfURLs(t *testing.T) {
	local, err := ParseNetworks("127.0.0.1/32")
	if err != nil {
		t.Fatal(err)
	}
	sixth, err := ParseNetworks("::1/128")
	if err != nil {
		t.Fatal(err)
	}
	for url, allowed := range map[string][3]bool{ // by none, local and sixth
		"https://example.com/hook": {true, true, true}, "https://internal.example.com": {true, true, true}, "https://1.1.1.1:8443/": {true, true, true},
		"http://127.0.0.1:8080/": {false, true, false}, "http://[::ffff:127.0.0.1]/": {false, true, false}, "http://[::1]:8080/": {false, false, true},
		"http://localhost:8080/": {false, true, true}, "http://LocalHost./": {false, true, true}, "http://a.localhost/": {false, true, true},
		"http://notlocalhost/": {true, true, true}, "http://127.0.0.2/": {}, "http://10.0.0.1": {}, "http://169.254.169.254/latest": {},
	} {
		for i, n := range []Networks{{}, local, sixth} {
			if err := n.CheckURL(url); (err == nil) != allowed[i] || err != nil && err.Error() != errNetwork.Error() {
				t.Errorf("%s in %v: %v, want allowed %t", url, n, err, allowed[i])
			}
		}
	}
}
