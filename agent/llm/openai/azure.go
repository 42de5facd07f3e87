package openai

import (
	"net/url"
	"slices"
	"strings"
)

// azureHosts are the endings of the host names of Azure's resources.
var azureHosts = []string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"}

// Serves reports whether an address is known to need the Responses API. At
// OpenAI and Azure, the newest models take function tools in no other API.
func Serves(baseURL string) bool {
	u, err := url.Parse(strings.TrimSpace(baseURL))
	return err == nil && (u.Hostname() == openaiHost || isAzure(u))
}

func isAzure(u *url.URL) bool {
	return slices.ContainsFunc(azureHosts, func(end string) bool { return strings.HasSuffix(u.Hostname(), end) })
}

// NewAzure returns an adapter for an Azure resource, or for a proxy in front of
// one, under a provider's name. Models are the names of deployments.
func NewAzure(provider string, cfg Config) *Adapter {
	base, version := azureURL(cfg.BaseURL)
	cfg.BaseURL = base
	return newAdapter(provider, cfg, dialect{keyHeader: "api-key", apiVersion: version})
}

// azureURL completes the address of a resource, as Azure's portal and users
// write it, and splits off the version of the API. Without a version the
// address is that of the v1 API. With one it is that of the older API, and a
// path that names a deployment is removed, because the request names it.
func azureURL(address string) (base, version string) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return address, ""
	}
	version = u.Query().Get("api-version")
	path := strings.TrimRight(u.Path, "/")
	for _, call := range []string{"/responses", "/chat/completions"} {
		path = strings.TrimSuffix(path, call)
	}
	if before, _, ok := strings.Cut(path, "/openai/deployments"); ok {
		path = before + "/openai"
	}
	if path == "" {
		path = "/openai"
	}
	if version == "" && strings.HasSuffix(path, "/openai") {
		path += "/v1"
	}
	u.Path, u.RawPath, u.RawQuery = path, "", ""
	return u.String(), version
}
