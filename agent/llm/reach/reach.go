// Package reach says how providers are reached that a company's network or key service stands
// in front of: a command that prints the key, further certificate authorities, a client
// certificate and a proxy, for each provider by itself.
package reach

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"atelier.dev/atelier/internal/outbound"
	"atelier.dev/atelier/internal/regular"
)

// File is the name of the user's file, an object with an [Endpoint] for each provider's id.
// No file of a project is read, because a helper runs and an authority is believed.
const File = "endpoints.json"

// Endpoint is how one provider is reached. The zero value is as every other.
type Endpoint struct {
	// KeyHelper is a command line that prints the key; it is asked only if no key is set.
	KeyHelper string `json:"apiKeyHelper,omitempty"`
	// KeyTTL is for how many milliseconds a key is used; 0 means [DefaultTTL].
	KeyTTL int64 `json:"apiKeyHelperTtlMs,omitempty"`
	// CABundle is a file of certificate authorities that are believed beside the system's.
	CABundle string `json:"caBundle,omitempty"`
	// ClientCert and ClientKey are files in the form PEM. They are read for each connection,
	// because they are replaced when they expire.
	ClientCert string `json:"clientCert,omitempty"`
	ClientKey  string `json:"clientKey,omitempty"`
	// Proxy is the address of a proxy, or "direct" for none; empty means the environment's.
	Proxy string `json:"proxy,omitempty"`
}

// DefaultTTL is how long a helper's key is used.
const DefaultTTL = 5 * time.Minute

// TTL is for how long a helper's key is used.
func (e Endpoint) TTL() time.Duration {
	if e.KeyTTL <= 0 {
		return DefaultTTL
	}
	return time.Duration(e.KeyTTL) * time.Millisecond
}

// maxFile limits the files that are read.
const maxFile = 4 << 20

// Read reads the file in a folder. Without one, there are no endpoints.
func Read(home string) (map[string]Endpoint, error) {
	raw, err := regular.Read(filepath.Join(home, File), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out map[string]Endpoint
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", File, err)
	}
	return out, nil
}

// Client returns the client of an endpoint; nil if it is reached as every other.
func (e Endpoint) Client() (*http.Client, error) {
	if e.CABundle == "" && e.ClientCert == "" && e.ClientKey == "" && e.Proxy == "" {
		return nil, nil
	}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	switch {
	case e.Proxy == "direct":
		t.Proxy = nil
	case e.Proxy != "":
		at, err := url.Parse(e.Proxy)
		if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" && at.Scheme != "socks5" {
			return nil, errors.New("the proxy is not an address of http, https or socks5") // which may hold a password
		}
		t.Proxy = http.ProxyURL(at)
	}
	if e.CABundle != "" {
		pem, err := regular.Read(e.CABundle, maxFile)
		if err != nil {
			return nil, fmt.Errorf("read the certificate authorities: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate", e.CABundle)
		}
		t.TLSClientConfig.RootCAs = pool
	}
	if e.ClientCert != "" || e.ClientKey != "" {
		if _, err := e.certificate(nil); err != nil {
			return nil, err
		}
		t.TLSClientConfig.GetClientCertificate = e.certificate
	}
	return &http.Client{Transport: outbound.Through(outbound.Model, t)}, nil
}

func (e Endpoint) certificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(e.ClientCert, e.ClientKey)
	if err != nil {
		return nil, fmt.Errorf("read the client certificate: %w", err)
	}
	return &pair, nil
}

// Key returns what a helper printed, as a key.
func Key(printed string) (string, error) {
	key := strings.TrimSpace(printed)
	if key == "" || len(key) > 16<<10 || strings.ContainsAny(key, "\r\n\x00") {
		return "", errors.New("the command for the key did not print one line with a key")
	}
	return key, nil
}

// Broken returns a client of which every request fails, and sends nothing.
func Broken(err error) *http.Client {
	return &http.Client{Transport: outbound.Through(outbound.Model, broken{err})}
}

type broken struct{ err error }

// RoundTrip implements [http.RoundTripper].
func (b broken) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	return nil, b.err
}
