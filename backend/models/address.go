package models

import (
	"net"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"atelier.dev/atelier/agent/llm/provider"
	"atelier.dev/atelier/backend"
)

// apiVersion matches the query of Azure's older addresses. No other query is
// part of an address: it would not be sent, and may contain a key.
var apiVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^api-version=[a-zA-Z0-9.-]{1,32}$`) })

// checkAddress returns an address in the form in which it is stored. An address
// that contains a secret is refused, because addresses are kept in the database
// and shown.
func checkAddress(row provider.Row, typed string) (string, error) {
	address := strings.TrimSpace(typed)
	if address == "" {
		return "", nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "":
		return "", backend.Problem(backend.ProblemAddressInvalid)
	case u.User != nil:
		return "", backend.Problem(backend.ProblemAddressPassword)
	case u.Fragment != "", u.ForceQuery, u.RawQuery != "" && !(row.Deployments && apiVersion().MatchString(u.RawQuery)):
		return "", backend.Problem(backend.ProblemAddressQuery)
	}
	return address, nil
}

// shownAddress returns an address without anything secret. An address from the
// environment may contain a password.
func shownAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.Fragment = nil, ""
	if !apiVersion().MatchString(u.RawQuery) {
		u.RawQuery = ""
	}
	return u.String()
}

// originOf returns the scheme, host and port that an address reaches. It is
// empty for the provider's own address, which is stored as an empty one.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return ""
	}
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
