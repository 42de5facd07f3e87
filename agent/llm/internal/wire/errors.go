package wire

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// sentences begin the message of a failure that a server reported; its own text
// follows.
var sentences = map[llm.Class]string{
	llm.ClassAuth:            "the key was not accepted",
	llm.ClassPermission:      "the key does not allow this",
	llm.ClassNotFound:        "the model or the address was not found",
	llm.ClassInvalid:         "the request was not accepted",
	llm.ClassRateLimit:       "too many requests for now",
	llm.ClassQuota:           "the account's quota or credit is used up",
	llm.ClassOverloaded:      "the provider is overloaded",
	llm.ClassServer:          "the provider had an error of its own",
	llm.ClassTimeout:         "the provider gave up waiting",
	llm.ClassContentFilter:   "the provider's content filter stopped this",
	llm.ClassContextOverflow: "the conversation does not fit into the model's context window",
}

// failure makes an error whose message contains no secret.
func (e *Endpoint) failure(class llm.Class, message string) *llm.Error {
	return &llm.Error{Class: class, Provider: e.provider, Message: e.Redact(message), Retryable: retryable(class)}
}

// Reported makes an error from a provider's report: in an error response
// (status is not 0) or in the middle of a stream (status is 0).
func (e *Endpoint) Reported(status int, code, text string) *llm.Error {
	err := e.describe(classify(status, code, text), text)
	err.Status, err.Code = status, e.Redact(code)
	if status == http.StatusRequestTimeout {
		err.Retryable = false // LLM-43
	}
	return err
}

// describe makes an error of a known class from a provider's text.
func (e *Endpoint) describe(class llm.Class, text string) *llm.Error {
	message := sentences[class]
	if class == llm.ClassAuth && e.key == "" {
		message = "the provider asks for a key"
	}
	if class == llm.ClassNotFound {
		message += " at " + e.Shown() + e.versionMissing()
	}
	if text = brief(e.Redact(text)); text != "" { // before cutting, because half a key is secret too
		message += ": " + text
	}
	return e.failure(class, message)
}

// versionMissing says what an address without a path usually lacks.
func (e *Endpoint) versionMissing() string {
	if u, err := url.Parse(e.base); err == nil && strings.Trim(u.Path, "/") == "" {
		return " (addresses of such servers mostly end in /v1)"
	}
	return ""
}

// reportedBody is Reported for an error object of any form.
func (e *Endpoint) reportedBody(status int, body []byte) *llm.Error {
	code, text := explain(body)
	details := googleDetails(body)
	err := e.Reported(status, cmp.Or(details.reason, code), text)
	if details.class != "" && details.class != err.Class {
		err = e.describe(details.class, text)
		err.Status, err.Code = status, e.Redact(cmp.Or(details.reason, code))
	}
	err.RetryAfter = details.retryAfter
	return err
}

// refusal makes an error from a response without success.
func (e *Endpoint) refusal(status int, header http.Header, body []byte) *llm.Error {
	if status >= 300 && status <= 399 {
		err := e.failure(llm.ClassConfig, e.Shown()+" "+errElsewhere.Error()+": check the base URL")
		err.Status = status
		return err
	}
	err := e.reportedBody(status, body)
	if after := retryAfter(header, time.Now()); after > 0 {
		err.RetryAfter = after
	}
	if header.Get("X-Should-Retry") == "false" {
		err.Retryable = false
	}
	return err
}

// notAStream makes an error from a successful response that is not a stream.
func (e *Endpoint) notAStream(body []byte) *llm.Error {
	if len(body) > 0 && body[0] == '<' {
		return e.failure(llm.ClassConfig, e.Shown()+" answers with a web page, not as a model does: check the base URL"+e.versionMissing())
	}
	if code, text := explain(body); code != "" || text != "" {
		return e.reportedBody(0, body)
	}
	return e.failure(llm.ClassInvalid, e.Shown()+" does not stream its answers")
}

// transport makes an error from a failure below HTTP, or from an unreadable
// answer.
func (e *Endpoint) transport(err error) *llm.Error {
	class, why := llm.ClassNetwork, "could not reach "+e.Shown()+": "+root(err).Error()
	var (
		dns     *net.DNSError
		network net.Error
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
		syntax  *json.SyntaxError
	)
	switch {
	case errors.Is(err, errElsewhere):
		class, why = llm.ClassConfig, e.Shown()+" "+errElsewhere.Error()+": check the base URL"
	case errors.As(err, &dns) && dns.IsNotFound:
		class, why = llm.ClassConfig, "could not find "+dns.Name+": check the base URL and the network"
	case errors.As(err, &dns):
		why = "could not look up " + dns.Name + ": check the network"
	case errors.As(err, &cert), errors.As(err, &unknown), errors.As(err, &record):
		class, why = llm.ClassConfig, "could not reach "+e.Shown()+" securely: "+root(err).Error()
		if errors.As(err, &unknown) {
			why += ": if it is your own, add its certificate to those that the system trusts, or start Atelier with SSL_CERT_FILE set to a file that has it"
		}
	case errors.Is(err, syscall.ECONNREFUSED):
		why = "could not reach " + e.Shown() + ": connection refused"
	case errors.As(err, &network) && network.Timeout():
		class, why = llm.ClassTimeout, "could not reach "+e.Shown()+": no answer in time"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		why = "the connection to " + e.Shown() + " broke"
	case errors.As(err, &syntax):
		class, why = llm.ClassServer, e.Shown()+" sent something that cannot be read: "+syntax.Error()
	}
	failure := e.failure(class, why)
	failure.Cause = e.clean(err)
	return failure
}

// clean returns err, or its redacted text if it contains a secret.
func (e *Endpoint) clean(err error) error {
	if text := err.Error(); e.Redact(text) != text {
		return errors.New(e.Redact(text))
	}
	return err
}

// root removes addresses and operations from Go's network errors.
func root(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return err
}

// echoed matches keys that a provider quotes, whole or masked.
var echoed = lazily(`\b(sk|gsk|xai|pk|rk)-[A-Za-z0-9_*.\-]{6,}`)

// Redact removes the endpoint's secrets from a text.
func (e *Endpoint) Redact(s string) string {
	for _, secret := range e.secrets {
		s = strings.ReplaceAll(s, secret, "[key]")
	}
	return echoed().ReplaceAllString(s, "[key]")
}

// retryAfter reads the wait that the provider asks for; 0 if it does not ask.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d := pause(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	v := h.Get("Retry-After")
	if d := pause(v, time.Second); d > 0 {
		return d
	}
	if at, err := http.ParseTime(v); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// pause reads a number of units, which may have a fraction; 0 if it is none or
// cannot be meant.
func pause(number string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n > 0 && n <= math.MaxInt32) {
		return 0
	}
	return time.Duration(n * float64(unit))
}
