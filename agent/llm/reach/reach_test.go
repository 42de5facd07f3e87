package reach_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent/llm/reach"
)

func put(t *testing.T, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// pair makes a client certificate, which is its own authority.
func pair(t *testing.T) (cert, key string, authority *x509.Certificate) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "me"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	authority, err = x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return put(t, "CERTIFICATE", der), put(t, "EC PRIVATE KEY", secret), authority
}

// Issue 39: an endpoint behind an authority of its own, which wants a client certificate, and
// one behind a proxy.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	cert, key, authority := pair(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	pool := x509.NewCertPool()
	pool.AddCert(authority)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	defer server.Close()
	bundle := put(t, "CERTIFICATE", server.Certificate().Raw)
	get := func(e reach.Endpoint, url string) (string, error) {
		client, err := e.Client()
		if err != nil || client == nil {
			return "", err
		}
		answer, err := client.Get(url)
		if err != nil {
			return "", err
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		return string(text), err
	}
	if text, err := get(reach.Endpoint{CABundle: bundle, ClientCert: cert, ClientKey: key}, server.URL); text != "me" || err != nil {
		t.Errorf("with both: %q, %v", text, err)
	}
	for name, e := range map[string]reach.Endpoint{
		"no authority":          {ClientCert: cert, ClientKey: key},
		"no client certificate": {CABundle: bundle},
		"no such bundle":        {CABundle: filepath.Join(t.TempDir(), "none")},
		"a bundle without any":  {CABundle: key},
		"a folder":              {CABundle: t.TempDir()},
		"half a pair":           {CABundle: bundle, ClientCert: cert},
		"no proxy":              {Proxy: "ftp://user:secret@host"},
	} {
		if text, err := get(e, server.URL); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "through the proxy to "+r.URL.Host)
	}))
	defer proxy.Close()
	if text, err := get(reach.Endpoint{Proxy: proxy.URL}, "http://models.invalid/"); text != "through the proxy to models.invalid" {
		t.Errorf("by the proxy: %q, %v", text, err)
	}
	if client, err := (reach.Endpoint{KeyHelper: "x"}).Client(); client != nil || err != nil {
		t.Errorf("an ordinary endpoint has a client of its own: %v", err)
	}
}

// Issue 39: bad input in the user's file is said, and no file is no endpoint.
func TestRead(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if all, err := reach.Read(home); all != nil || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	for text, fine := range map[string]bool{`{"openai":{"apiKeyHelper":"print-key","apiKeyHelperTtlMs":60000}}`: true, `[]`: false, ``: false} {
		if err := os.WriteFile(filepath.Join(home, reach.File), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := reach.Read(home)
		if (err == nil) != fine || fine && all["openai"].TTL() != time.Minute {
			t.Errorf("%q: %+v, %v", text, all, err)
		}
	}
	for printed, fine := range map[string]bool{" sk-1\n": true, "": false, "a\nb": false, strings.Repeat("x", 20<<10): false} {
		if _, err := reach.Key(printed); (err == nil) != fine {
			t.Errorf("%.20q: %v", printed, err)
		}
	}
}
