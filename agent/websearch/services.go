package websearch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"atelier.dev/atelier/internal/outbound"
	"atelier.dev/atelier/internal/text"
)

// The ids of the services.
const (
	SearXNG = "searxng"
	Brave   = "brave"
	Tavily  = "tavily"
	Exa     = "exa"
)

// Service is a service for searching, in the order in which they are offered.
type Service struct {
	ID, Title string
	// Address is where it is; empty if the user has to say.
	Address string
	// Variable is the variable of the environment that may hold its key or, without a
	// key, its address.
	Variable string
	// Keyed says that it needs a key.
	Keyed  bool
	search func(access, context.Context, Input) (Found, error)
}

// Services returns all services.
func Services() []Service {
	return []Service{
		{SearXNG, "SearXNG", "", "SEARXNG_URL", false, access.searxng},
		{Brave, "Brave Search", "https://api.search.brave.com", "BRAVE_API_KEY", true, access.brave},
		{Tavily, "Tavily", "https://api.tavily.com", "TAVILY_API_KEY", true, access.tavily},
		{Exa, "Exa", "https://api.exa.ai", "EXA_API_KEY", true, access.exa},
	}
}

// Engine returns the engine of a service, at its own address unless another is given.
func (s Service) Engine(address, key string) (Engine, error) {
	u, err := url.Parse(strings.TrimRight(cmp.Or(address, s.Address), "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Engine{}, fmt.Errorf("the address of %s is not one of the web: it is written as https://host", s.Title)
	}
	a := access{base: u, key: key}
	return Engine{Title: s.Title, Host: u.Hostname(), Search: func(ctx context.Context, in Input) (Found, error) { return s.search(a, ctx, in) }}, nil
}

// The limits of an exchange with a service.
const (
	maxTime = 20 * time.Second
	maxBody = 4 << 20
)

// access is how a service is reached.
type access struct {
	base *url.URL
	key  string
}

func (a access) searxng(ctx context.Context, in Input) (Found, error) {
	var reply struct {
		Results []struct {
			Title, URL, Content string
			PublishedDate       string `json:"publishedDate"`
		}
	}
	err := a.ask(ctx, http.MethodGet, "search", url.Values{"q": {in.operators()}, "format": {"json"}}, nil, nil, &reply)
	if status := (statusError{}); errors.As(err, &status) && status.code == http.StatusForbidden {
		return Found{}, errors.New("the instance does not answer in JSON: its settings.yml has to list json below search.formats")
	}
	var found Found
	for _, r := range reply.Results {
		found.Hits = append(found.Hits, Hit{r.Title, r.URL, r.Content, r.PublishedDate})
	}
	return found, err
}

func (a access) brave(ctx context.Context, in Input) (Found, error) {
	var reply struct {
		Web struct {
			Results []struct{ Title, URL, Description, Age string }
		}
	}
	query := url.Values{"q": {in.operators()}, "count": {strconv.Itoa(maxHits)}}
	err := a.ask(ctx, http.MethodGet, "res/v1/web/search", query, map[string]string{"X-Subscription-Token": a.key}, nil, &reply)
	var found Found
	for _, r := range reply.Web.Results {
		found.Hits = append(found.Hits, Hit{r.Title, r.URL, r.Description, r.Age})
	}
	return found, err
}

func (a access) tavily(ctx context.Context, in Input) (Found, error) {
	var reply struct {
		Results []struct {
			Title, URL, Content string
			PublishedDate       string `json:"published_date"`
		}
	}
	body := map[string]any{"query": in.Query, "max_results": in.NumResults, "search_depth": "basic", "include_domains": in.AllowedDomains, "exclude_domains": in.BlockedDomains}
	err := a.ask(ctx, http.MethodPost, "search", nil, map[string]string{"Authorization": "Bearer " + a.key}, without(body), &reply)
	var found Found
	for _, r := range reply.Results {
		found.Hits = append(found.Hits, Hit{r.Title, r.URL, r.Content, r.PublishedDate})
	}
	return found, err
}

func (a access) exa(ctx context.Context, in Input) (Found, error) {
	var reply struct {
		Results []struct {
			Title, URL, Text string
			PublishedDate    string `json:"publishedDate"`
		}
	}
	body := map[string]any{
		"query": in.Query, "numResults": in.NumResults, "type": "auto", "includeDomains": in.AllowedDomains, "excludeDomains": in.BlockedDomains,
		"contents": map[string]any{"text": map[string]any{"maxCharacters": maxExcerpt}},
	}
	err := a.ask(ctx, http.MethodPost, "search", nil, map[string]string{"X-Api-Key": a.key}, without(body), &reply)
	var found Found
	for _, r := range reply.Results {
		found.Hits = append(found.Hits, Hit{r.Title, r.URL, r.Text, r.PublishedDate})
	}
	return found, err
}

// operators returns the query with its domains as operators that search engines know.
// What they ignore is left out afterwards.
func (in Input) operators() string {
	query := in.Query
	for i, d := range in.AllowedDomains {
		if i > 0 {
			query += " OR"
		}
		query += " site:" + d
	}
	for _, d := range in.BlockedDomains {
		query += " -site:" + d
	}
	return query
}

// without leaves out lists that are empty, which some services refuse.
func without(body map[string]any) map[string]any {
	for name, value := range body {
		if list, ok := value.([]string); ok && len(list) == 0 {
			delete(body, name)
		}
	}
	return body
}

// statusError is the error for an answer without results.
type statusError struct{ code int }

func (e statusError) Error() string {
	switch e.code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "it does not accept the key; the user can change it in Settings → Keys → Web search"
	case http.StatusPaymentRequired, http.StatusTooManyRequests, 432, 433: // the last two are Tavily's
		return "its limit of requests is reached; try again later"
	}
	return fmt.Sprintf("it answered with the status %d", e.code)
}

// ask makes a request and reads its answer into reply.
func (a access) ask(ctx context.Context, method, path string, query url.Values, headers map[string]string, body, reply any) error {
	timed, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	to := a.base.JoinPath(path)
	to.RawQuery = query.Encode()
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write the question: %w", err)
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(timed, method, to.String(), content)
	if err != nil {
		return fmt.Errorf("the address cannot be read: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "Atelier")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("the call was interrupted: %w", ctx.Err())
	case timed.Err() != nil:
		return fmt.Errorf("it did not answer within %s", maxTime)
	case err != nil:
		return fmt.Errorf("it cannot be reached: %w", bare(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return statusError{resp.StatusCode}
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return fmt.Errorf("its answer broke off: %w", err)
	case len(text) > maxBody:
		return errors.New("its answer is too large")
	case json.Unmarshal(text, reply) != nil:
		return errors.New("its answer is not the JSON that it documents")
	}
	return nil
}

// client follows no redirects: a key goes to the host that the user has named alone.
var client = &http.Client{Transport: outbound.Through(outbound.Search, http.DefaultTransport), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// bare returns an error without the address that package net/http puts before it.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// textOf returns a text of a service on one line, without markup and control characters.
func textOf(source string, most int) string {
	z := html.NewTokenizer(strings.NewReader(source))
	var b strings.Builder
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind == html.TextToken {
			b.Write(z.Text())
		}
	}
	visible := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(b.String(), "\uFFFD"))
	return text.Characters(strings.Join(strings.Fields(visible), " "), most)
}
