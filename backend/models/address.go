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
	refuse := func(message, next string) error {
		return &backend.Error{Code: backend.CodeInvalid, Message: message, Kept: "Nothing was changed.", Next: next}
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "":
		return "", refuse("The address is not an http or https address.", "Enter it like https://host/v1.")
	case u.User != nil:
		return "", refuse("The address holds a user name or a password.", "Enter the address without it, and the secret as the key.")
	case u.Fragment != "", u.RawQuery != "" && !(row.Deployments && apiVersion.MatchString(u.RawQuery)):
		return "", refuse("The address holds more than a host and a path, and the rest may be a secret.",
			"Enter the address up to the question mark or the number sign, and the secret as the key.")
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
