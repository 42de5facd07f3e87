package models

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/demo"
	"atelier.dev/atelier/agent/llm/provider"
	"atelier.dev/atelier/backend"
)

// endpointsSetting holds the user's own endpoints, as JSON.
const endpointsSetting = "endpoints"

// The limits of an endpoint.
const (
	maxEndpoints       = 20
	maxEndpointName    = 60
	maxEndpointHeaders = 16
	maxHeaderValue     = 4 << 10
	maxEndpointBody    = 16 << 10
)

// Endpoint is a user's own endpoint, a provider like any other. The values of
// its headers are secrets like its key.
type Endpoint struct {
	ID      string   `json:"id"` // of the provider
	Name    string   `json:"name"`
	BaseURL string   `json:"base_url"`
	Headers []string `json:"headers,omitempty"` // their names
	// Body has members that are added to every request.
	Body map[string]json.RawMessage `json:"body,omitempty"`
	// HasKey says that the endpoint has a key.
	HasKey bool `json:"has_key,omitempty"`
}

// endpointSecrets are kept in the key store, under the name of a key.
type endpointSecrets struct {
	Key     string            `json:"key,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// storedEndpoints reads the user's own endpoints, in the order in which they
// were added.
func (p *Providers) storedEndpoints(ctx context.Context) ([]Endpoint, error) {
	text, err := p.cfg.Settings.Setting(ctx, endpointsSetting)
	if isDamaged(err) {
		slog.Warn("the stored endpoints are damaged; there are none until one is added again")
		return nil, nil
	}
	if err != nil || text == "" {
		return nil, err
	}
	var out []Endpoint
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("read endpoints: %w", err)
	}
	return out, nil
}

// secrets reads an endpoint's secrets and says where they are stored.
func (p *Providers) secrets(e Endpoint) (endpointSecrets, backend.KeySource, error) {
	var s endpointSecrets
	text, source, err := p.key(provider.Row{Name: e.Name}, keyEntry(e.ID, e.BaseURL))
	if err != nil || text == "" {
		return s, "", err
	}
	if json.Unmarshal([]byte(text), &s) != nil {
		return s, "", backend.Problem(backend.ProblemKeyGarbled, e.Name) // without the cause, which could quote it
	}
	return s, source, nil
}

// endpointRow returns the provider for an endpoint, and what is needed to call
// it. An endpoint whose secrets are garbled cannot be called; it has to be
// removed, which needs the others to work.
func (p *Providers) endpointRow(e Endpoint) (provider.Row, access, error) {
	s, source, err := p.secrets(e)
	row := provider.Row{ID: e.ID, Name: e.Name, Needs: provider.Needs{URL: true}}
	if problem := (*backend.Error)(nil); errors.As(err, &problem) && problem.ID == backend.ProblemKeyGarbled {
		slog.Warn("an endpoint's secrets are garbled; it is not used", "provider", e.ID)
		return row, access{garbled: true}, nil
	}
	row.New = func(cfg llm.AdapterConfig) llm.Adapter {
		cfg.Header = http.Header{}
		for name, value := range s.Headers {
			cfg.Header.Set(name, value)
		}
		return withBody{Adapter: provider.Compatible(e.ID)(cfg), body: e.Body}
	}
	a := access{key: s.Key, baseURL: e.BaseURL}
	if s.Key != "" {
		a.source = source
	}
	return row, a, err
}

// withBody is an adapter that adds members to every request.
type withBody struct {
	llm.Adapter
	body map[string]json.RawMessage
}

// Stream implements [llm.Adapter].
func (w withBody) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	body := maps.Clone(w.body)
	if body == nil {
		body = map[string]json.RawMessage{}
	}
	maps.Copy(body, req.Body)
	req.Body = body
	return w.Adapter.Stream(ctx, req)
}

// Models implements [lister].
func (w withBody) Models(ctx context.Context) ([]llm.ListedModel, error) {
	if l, ok := w.Adapter.(lister); ok {
		return l.Models(ctx)
	}
	return nil, nil
}

// Nearby implements [nearby].
func (w withBody) Nearby() bool {
	n, ok := w.Adapter.(nearby)
	return ok && n.Nearby()
}

func (p *Providers) ListEndpoints(ctx context.Context, _ backend.Empty) (EndpointList, error) {
	endpoints, err := p.storedEndpoints(ctx)
	if err != nil {
		return EndpointList{}, err
	}
	found, err := p.found(ctx)
	if err != nil {
		return EndpointList{}, err
	}
	for i, e := range endpoints {
		endpoints[i].HasKey = found[e.ID].key != ""
	}
	return EndpointList{Endpoints: endpoints}, nil
}

// SetEndpoint adds or changes an endpoint, completely or not at all.
func (p *Providers) SetEndpoint(ctx context.Context, in SetEndpointRequest) (EndpointList, error) {
	p.storing.Lock()
	defer p.storing.Unlock()
	endpoints, err := p.storedEndpoints(ctx)
	if err != nil {
		return EndpointList{}, err
	}
	at := slices.IndexFunc(endpoints, func(e Endpoint) bool { return e.ID == in.ID })
	switch {
	case in.ID != "" && at < 0:
		return EndpointList{}, backend.Problem(backend.ProblemEndpointMissing)
	case in.ID == "" && len(endpoints) >= maxEndpoints:
		return EndpointList{}, backend.Problem(backend.ProblemEndpointsFull, strconv.Itoa(maxEndpoints))
	}
	var old Endpoint
	if at >= 0 {
		old = endpoints[at]
	}
	e, err := p.checkEndpoint(in)
	if err != nil {
		return EndpointList{}, err
	}
	secrets, err := p.newSecrets(old, e, in)
	if err != nil {
		return EndpointList{}, err
	}
	if at < 0 {
		e.ID = p.freeID(e.Name, endpoints)
		endpoints = append(endpoints, e)
	} else {
		e.ID = old.ID
		endpoints[at] = e
	}
	undo, err := p.putSecrets(e, secrets)
	if err != nil {
		return EndpointList{}, err
	}
	if err := p.saveEndpoints(ctx, endpoints); err != nil {
		_ = undo() // the first failure is the one that is reported
		return EndpointList{}, err
	}
	if at >= 0 && keyEntry(e.ID, old.BaseURL) != keyEntry(e.ID, e.BaseURL) {
		p.forgetKey(e.ID, old.BaseURL)
	}
	return p.afterEndpoints(ctx)
}

func (p *Providers) RemoveEndpoint(ctx context.Context, in ProviderRef) (EndpointList, error) {
	p.storing.Lock()
	defer p.storing.Unlock()
	endpoints, err := p.storedEndpoints(ctx)
	if err != nil {
		return EndpointList{}, err
	}
	at := slices.IndexFunc(endpoints, func(e Endpoint) bool { return e.ID == in.Provider })
	if at < 0 {
		return p.afterEndpoints(ctx)
	}
	gone := endpoints[at]
	if err := p.saveEndpoints(ctx, slices.Delete(endpoints, at, at+1)); err != nil {
		return EndpointList{}, err
	}
	p.forgetKey(gone.ID, gone.BaseURL)
	if err := os.Remove(p.listings.file(gone.ID)); err != nil && !os.IsNotExist(err) {
		slog.Warn("could not remove an endpoint's models", "provider", gone.ID, "err", err)
	}
	return p.afterEndpoints(ctx)
}

// putSecrets stores an endpoint's secrets, or removes the stored ones if there
// are none now. It returns a function that undoes it.
func (p *Providers) putSecrets(e Endpoint, secrets string) (undo func() error, err error) {
	row, entry := provider.Row{Name: e.Name}, keyEntry(e.ID, e.BaseURL)
	if secrets != "" {
		return p.putKey(row, entry, secrets)
	}
	was, _, err := p.key(row, entry)
	if err != nil {
		return nil, err
	}
	if was == "" {
		return func() error { return nil }, nil
	}
	if err := p.cfg.Keys.RemoveKey(entry); err != nil {
		return nil, backend.Problem(backend.ProblemKeyUnremoved, e.Name).Because(err)
	}
	return func() error { return p.cfg.Keys.SetKey(entry, was) }, nil
}

// forgetKey removes a key that is no longer used.
func (p *Providers) forgetKey(id, address string) {
	if err := p.cfg.Keys.RemoveKey(keyEntry(id, address)); err != nil {
		slog.Warn("could not remove an unused key", "provider", id, "err", err)
	}
}

func (p *Providers) saveEndpoints(ctx context.Context, endpoints []Endpoint) error {
	b, err := json.Marshal(endpoints)
	if err != nil {
		return fmt.Errorf("encode endpoints: %w", err)
	}
	return p.cfg.Settings.SetSetting(ctx, endpointsSetting, string(b))
}

func (p *Providers) afterEndpoints(ctx context.Context) (EndpointList, error) {
	if err := p.refresh(ctx); err != nil {
		return EndpointList{}, err
	}
	return p.ListEndpoints(ctx, backend.Empty{})
}

var (
	headerName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$") })
	// ownHeaders are the transport's and the adapter's.
	ownHeaders = []string{
		"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade",
	}
	// ownMembers of a request's body are what makes it one.
	ownMembers = []string{"model", "messages", "input", "instructions", "stream", "tools"}
)

// checkEndpoint returns an endpoint as it is stored, without its id.
func (p *Providers) checkEndpoint(in SetEndpointRequest) (Endpoint, error) {
	e := Endpoint{Name: strings.TrimSpace(in.Name)}
	if e.Name == "" || len(e.Name) > maxEndpointName || strings.ContainsFunc(e.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return e, backend.Problem(backend.ProblemEndpointUnnamed, strconv.Itoa(maxEndpointName))
	}
	var err error
	// Azure's older addresses are taken here too.
	if e.BaseURL, err = checkAddress(provider.Row{Deployments: true}, in.BaseURL); err != nil {
		return e, err
	}
	if e.BaseURL == "" {
		return e, backend.Problem(backend.ProblemEndpointUnaddressed)
	}
	if len(in.Headers) > maxEndpointHeaders {
		return e, backend.Problem(backend.ProblemHeadersFull, strconv.Itoa(maxEndpointHeaders))
	}
	for _, h := range in.Headers {
		name := http.CanonicalHeaderKey(strings.TrimSpace(h.Name))
		switch {
		case !headerName().MatchString(name) || slices.Contains(ownHeaders, name):
			return e, backend.Problem(backend.ProblemHeaderReserved, h.Name)
		case slices.Contains(e.Headers, name):
			return e, backend.Problem(backend.ProblemHeaderTwice, name)
		case len(h.Value) > maxHeaderValue || strings.ContainsFunc(h.Value, unicode.IsControl):
			return e, backend.Problem(backend.ProblemHeaderValue, name)
		}
		e.Headers = append(e.Headers, name)
	}
	e.Body, err = checkBody(in.Body)
	return e, err
}

// checkBody reads the members that go into every request.
func checkBody(text string) (map[string]json.RawMessage, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	var body map[string]json.RawMessage
	if len(text) > maxEndpointBody || json.Unmarshal([]byte(text), &body) != nil || body == nil {
		return nil, backend.Problem(backend.ProblemBodyInvalid)
	}
	for _, name := range ownMembers {
		if _, ok := body[name]; ok {
			return nil, backend.Problem(backend.ProblemBodyReserved, name)
		}
	}
	for name, value := range body {
		var compact bytes.Buffer
		if err := json.Compact(&compact, value); err != nil {
			return nil, fmt.Errorf("compact the member %s: %w", name, err)
		}
		body[name] = compact.Bytes()
	}
	return body, nil
}

// newSecrets returns what is to be kept of the key and the headers' values, as
// JSON, or empty. Empty values keep their predecessors, as long as the endpoint
// is still at the same origin.
func (p *Providers) newSecrets(old, e Endpoint, in SetEndpointRequest) (string, error) {
	var before endpointSecrets
	if old.ID != "" {
		var err error
		if before, _, err = p.secrets(old); err != nil {
			return "", err
		}
	}
	secrets := endpointSecrets{Key: strings.TrimSpace(in.Key), Headers: map[string]string{}}
	moved := originOf(old.BaseURL) != originOf(e.BaseURL)
	if secrets.Key == "" && !in.NoKey {
		if before.Key != "" && moved {
			return "", askForKey(provider.Row{Name: old.Name}, access{key: before.Key}, e.BaseURL)
		}
		secrets.Key = before.Key
	}
	for i, name := range e.Headers {
		entered := strings.TrimSpace(in.Headers[i].Value)
		value := cmp.Or(entered, before.Headers[name])
		if value == "" || entered == "" && moved {
			return "", backend.Problem(backend.ProblemHeaderEmpty, name)
		}
		secrets.Headers[name] = value
	}
	if secrets.Key == "" && len(secrets.Headers) == 0 {
		return "", nil
	}
	b, err := json.Marshal(secrets)
	return string(b), err
}

var notInID = regexp.MustCompile(`[^a-z0-9]+`)

// freeID makes an id of a name that no provider has.
func (p *Providers) freeID(name string, endpoints []Endpoint) string {
	base := strings.Trim(notInID.ReplaceAllString(strings.ToLower(name), "-"), "-")
	base = cmp.Or(strings.Trim(base[:min(len(base), 32)], "-"), "endpoint")
	p.mu.Lock()
	own := p.own
	p.mu.Unlock()
	endpoints = slices.Clone(endpoints)
	for _, row := range own {
		endpoints = append(endpoints, Endpoint{ID: row.ID})
	}
	taken := func(id string) bool {
		return id == demo.Provider || slices.ContainsFunc(p.vendors, func(r provider.Row) bool { return r.ID == id }) ||
			slices.ContainsFunc(endpoints, func(e Endpoint) bool { return e.ID == id })
	}
	id := base
	for n := 2; taken(id); n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	return id
}

// EndpointList answers the methods about endpoints.
type EndpointList struct {
	Endpoints []Endpoint `json:"endpoints,omitempty"`
}

// SetEndpointRequest is for endpoints.set. Without an ID it adds one. An empty
// Key, and an empty value of a header, keep what is stored.
type SetEndpointRequest struct {
	ID      string           `json:"id,omitempty"`
	Name    string           `json:"name"`
	BaseURL string           `json:"base_url"`
	Key     string           `json:"key,omitempty"`
	NoKey   bool             `json:"no_key,omitempty"` // removes the stored one
	Headers []EndpointHeader `json:"headers,omitempty"`
	Body    string           `json:"body,omitempty"` // a JSON object
}

type EndpointHeader struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}
