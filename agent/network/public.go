package network

import (
	"net/netip"
	"slices"
)

// special has the blocks whose addresses are not those of hosts on the internet,
// after the registries of special-purpose addresses, and the addresses of cloud
// providers' own services that are outside such blocks. Every other address is
// public.
var special = func() (blocks []netip.Prefix) {
	for _, text := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"168.63.129.16/32", // Azure's host of a virtual machine
		"::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001:db8::/32", "2002::/16",
		"3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
	} {
		blocks = append(blocks, netip.MustParsePrefix(text))
	}
	return blocks
}()

// translated is the block in which a gateway to the IPv4 internet is reached.
var translated = netip.MustParsePrefix("64:ff9b::/96")

// Public reports whether an address is that of a host on the internet, as opposed to
// this machine, a private network or a provider's own services.
func Public(addr netip.Addr) bool {
	addr = addr.Unmap()
	if translated.Contains(addr) {
		bytes := addr.As16()
		addr = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	return addr.IsValid() && addr.Zone() == "" && !slices.ContainsFunc(special, func(block netip.Prefix) bool { return block.Contains(addr) })
}
