package models

import (
	"net"
	"net/url"
	"regexp"
	"strings"

	"atelier.dev/atelier/agent/llm/provider"
	"atelier.dev/atelier/backend"
)

// apiVersion is the query that Azure's older addresses carry. No other query is
// part of an address: it would not be sent, and may well hold a key.
var apiVersion = regexp.MustCompile(`^api-version=[a-zA-Z0-9.-]{1,32}$`)

// checkAddress returns an address as it is stored. One that holds a secret is
// refused: addresses lie in the database and are shown.
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
	case u.Fragment != "", u.RawQuery != "" && !(row.Deployments && apiVersion.MatchString(u.RawQuery)):
		return "", backend.Problem(backend.ProblemAddressQuery)
	}
	return address, nil
}

// shownAddress is an address without what may be secret in it. The environment
// may give one with a password.
func shownAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.Fragment = nil, ""
	if !apiVersion.MatchString(u.RawQuery) {
		u.RawQuery = ""
	}
	return u.String()
}

// originOf is whom an address reaches: scheme, host and port. It is empty for
// the provider's own address, which is written as the empty one.
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
