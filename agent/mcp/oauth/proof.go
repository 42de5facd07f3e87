package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// proofKey is a private key that tokens are bound to, in the form of PKCS #8. A
// stolen token is useless without it (RFC 9449).
type proofKey []byte

func newProofKey() (proofKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return x509.MarshalPKCS8PrivateKey(key)
}

// prove returns a proof for one request, with the token that the request carries. It
// is empty if the key cannot be read, and the server refuses the request.
func (k proofKey) prove(method string, at *url.URL, token, nonce string, now time.Time) string {
	parsed, err := x509.ParsePKCS8PrivateKey(k)
	if err != nil {
		return ""
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return ""
	}
	public, err := key.PublicKey.Bytes() // 4, and the coordinates
	if err != nil || len(public) != 65 {
		return ""
	}
	target := url.URL{Scheme: at.Scheme, Host: at.Host, Path: at.Path, RawPath: at.RawPath}
	claims := map[string]any{"jti": rand.Text(), "htm": method, "htu": target.String(), "iat": now.Unix()}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		claims["ath"] = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	if nonce != "" {
		claims["nonce"] = nonce
	}
	proof, err := sign(key, map[string]any{"typ": "dpop+jwt", "jwk": map[string]string{
		"kty": "EC", "crv": "P-256",
		"x": base64.RawURLEncoding.EncodeToString(public[1:33]), "y": base64.RawURLEncoding.EncodeToString(public[33:]),
	}}, claims)
	if err != nil {
		return ""
	}
	return proof
}

// signed returns an assertion by which the client authenticates without a secret
// (RFC 7523).
func (s *site) signed(g grant) (string, error) {
	block, _ := pem.Decode([]byte(s.cfg.Unattended.PrivateKey))
	if block == nil {
		return "", errors.New("the client's private key is not PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return "", errors.New("the client's private key is not a key in the form of PKCS #8")
	}
	now := s.now()
	return sign(key, map[string]any{"typ": "JWT"}, map[string]any{
		"iss": g.Client.ID, "sub": g.Client.ID, "aud": g.Issuer, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	})
}

// sign returns a JSON web token, signed with ES256 or RS256.
func sign(key any, header, claims map[string]any) (string, error) {
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		if k.Curve != elliptic.P256() {
			return "", errors.New("the private key is not on the curve P-256")
		}
		header["alg"] = "ES256"
	case *rsa.PrivateKey:
		header["alg"] = "RS256"
	default:
		return "", errors.New("the private key is neither ECDSA nor RSA")
	}
	first, err := json.Marshal(header)
	if err != nil {
		return "", err
	}
	second, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(first) + "." + base64.RawURLEncoding.EncodeToString(second)
	sum := sha256.Sum256([]byte(text))
	signature, err := signSum(key, sum[:])
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

func signSum(key any, sum []byte) ([]byte, error) {
	if k, ok := key.(*rsa.PrivateKey); ok {
		return rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum)
	}
	r, s, err := ecdsa.Sign(rand.Reader, key.(*ecdsa.PrivateKey), sum)
	if err != nil {
		return nil, err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signature, nil
}
