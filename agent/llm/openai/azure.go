package openai

import (
	"net/url"
	"slices"
	"strings"
)

// azureHosts end the names of the hosts of Azure's resources.
var azureHosts = []string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"}

// Serves reports whether an address is known to want the Responses API: at
// OpenAI's own, and at Azure's, the newest models take function tools in no
// other.
func Serves(baseURL string) bool {
	u, err := url.Parse(strings.TrimSpace(baseURL))
	return err == nil && (u.Hostname() == openaiHost || isAzure(u))
}

func isAzure(u *url.URL) bool {
	return slices.ContainsFunc(azureHosts, func(end string) bool { return strings.HasSuffix(u.Hostname(), end) })
}

// NewAzure returns an adapter for a resource of Azure's, or for what stands
// before one, under a provider's name. Models are the names of deployments.
func NewAzure(provider string, cfg Config) *Adapter {
	base, version := azureURL(cfg.BaseURL)
	cfg.BaseURL = base
	return newAdapter(provider, cfg, dialect{keyHeader: "api-key", apiVersion: version})
}

// azureURL completes the address of a resource, as Azure's portal and people's
// settings write it, and splits off the version of the API. Without a version it
// is that of the v1 API; with one, that of the older, where a path that names a
// deployment is left out: the request names it.
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
