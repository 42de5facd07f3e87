// Package websearch has the tool with which a model searches the web (OAS-310): with a
// service that the user has set up, or with the search that a model's provider runs.
package websearch

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/plain"
	"atelier.dev/atelier/internal/text"
)

//go:embed websearch.md
var description string

// Name is the tool's canonical name.
const Name = "WebSearch"

// The limits of a call and of what comes back, texts in characters.
const (
	maxQuery   = 1_000
	maxDomains = 20
	maxHits    = 20
	usualHits  = 5
	maxTitle   = 200
	maxExcerpt = 800
	maxAddress = 1_000
	maxAnswer  = 20_000
)

// Input is a call.
type Input struct {
	Query          string   `json:"query" jsonschema:"what to search for"`
	NumResults     int      `json:"num_results,omitempty" jsonschema:"the number of results, 5 if left out"`
	AllowedDomains []string `json:"allowed_domains,omitempty" jsonschema:"only hits on these hosts and below"`
	BlockedDomains []string `json:"blocked_domains,omitempty" jsonschema:"no hits on these hosts and below"`
}

// Validate says in a phrase for the model what is wrong with a call.
func (in Input) Validate() error {
	domains := slices.Concat(in.AllowedDomains, in.BlockedDomains)
	switch {
	case in.NumResults < 0 || in.NumResults > maxHits:
		return fmt.Errorf("num_results is a number from 1 to %d", maxHits)
	case len(in.AllowedDomains) > 0 && len(in.BlockedDomains) > 0:
		return errors.New("allowed_domains and blocked_domains exclude each other")
	case len(domains) > maxDomains:
		return fmt.Errorf("there are %d domains, more than %d", len(domains), maxDomains)
	}
	for _, d := range domains {
		if u, err := url.Parse("https://" + d); err != nil || u.Host != d || !strings.Contains(d, ".") {
			return fmt.Errorf("%.80q is not a domain: write it as example.com", d)
		}
	}
	return plain.Line("the query", in.Query, maxQuery, true)
}

// Hit is a page that was found. All of it is a stranger's.
type Hit struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Excerpt string `json:"excerpt,omitempty"`
	// Age says when the page is from, in the words of the service.
	Age string `json:"age,omitempty"`
}

// Found is what a search found.
type Found struct {
	Hits []Hit
	// Answer is what a provider's model wrote about them; empty if none did.
	Answer string
	// Made are the requests to models that were made for it, also if it failed.
	Made []agent.SideRequest
}

// Engine searches. It is safe for concurrent use.
type Engine struct {
	// Title names it for people, and Host is what it asks.
	Title, Host string
	// Search searches. The error is a clause for the model; it names no key.
	Search func(context.Context, Input) (Found, error)
}

// ErrUnset is the error of [Config.Engine] if the user has set up no search.
var ErrUnset = errors.New("no web search is set up here. The user can set one up in Settings → Keys → Web search: SearXNG, Brave, Tavily, Exa, or that of the model's provider. Tell them so if the task needs it, and go on without")

// Config is what the tool needs of its host.
type Config struct {
	// Engine returns the engine that searches now.
	Engine func(context.Context) (Engine, error)
}

// Card is what the tool's card shows of a call.
type Card struct {
	Engine string `json:"engine"`
	Hits   []Hit  `json:"hits,omitempty"`
}

// tool is the function, whose host depends on the settings.
type tool struct {
	agent.Tool
	engine func(context.Context) (Engine, error)
}

// Tool returns the tool.
func Tool(cfg Config) agent.Tool {
	return tool{agent.Function(agent.Spec{
		Name: Name, Description: strings.TrimSpace(description), ReadOnly: true, Concurrent: true, Idempotent: true, OpenWorld: true,
		Bindings: bindings(),
	}, agent.Depends(agent.ThisCall, cfg.run)), cfg.Engine}
}

// Validate implements [agent.Validator].
func (t tool) Validate(input json.RawMessage) error {
	return t.Tool.(agent.Validator).Validate(input)
}

// Access implements [agent.Accessor]. A call without an engine reaches nothing.
func (t tool) Access(context.Context, json.RawMessage) agent.Access {
	if t.engine == nil {
		return agent.Access{}
	}
	engine, err := t.engine(context.Background())
	if err != nil {
		return agent.Access{}
	}
	return agent.Access{Web: engine.Host, WebChosen: true}
}

func (cfg Config) run(ctx context.Context, in Input, call agent.Invocation) (agent.Result, error) {
	engine, err := cfg.Engine(ctx)
	if err != nil {
		return agent.Result{}, err
	}
	if in.NumResults == 0 {
		in.NumResults = usualHits
	}
	found, err := engine.Search(ctx, in)
	for _, request := range found.Made {
		if call.Spent != nil {
			call.Spent(request)
		}
	}
	if err != nil {
		return agent.Result{}, fmt.Errorf("the search with %s failed: %w", engine.Title, err)
	}
	hits := in.kept(found.Hits)
	card, err := json.Marshal(Card{engine.Title, hits})
	if err != nil {
		return agent.Result{}, fmt.Errorf("write the card: %w", err)
	}
	return agent.Result{Output: written(in, engine.Title, found.Answer, hits), Details: &agent.Details{Card: card}}, nil
}

// kept returns the hits that the call wants, each page once.
func (in Input) kept(all []Hit) (hits []Hit) {
	seen := map[string]bool{}
	for _, h := range all {
		u, err := url.Parse(h.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(h.URL) > maxAddress || seen[h.URL] {
			continue
		}
		on := func(domain string) bool { return below(u.Hostname(), domain) }
		if slices.ContainsFunc(in.BlockedDomains, on) || len(in.AllowedDomains) > 0 && !slices.ContainsFunc(in.AllowedDomains, on) {
			continue
		}
		seen[h.URL] = true
		hits = append(hits, Hit{textOf(h.Title, maxTitle), h.URL, textOf(h.Excerpt, maxExcerpt), textOf(h.Age, maxTitle)})
		if len(hits) == in.NumResults {
			break
		}
	}
	return hits
}

func below(host, domain string) bool {
	host, domain = strings.ToLower(host), strings.ToLower(domain)
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// written is what the model reads.
func written(in Input, engine, answer string, hits []Hit) string {
	if len(hits) == 0 && answer == "" {
		return fmt.Sprintf("%s found nothing for %q. Try other words.", engine, in.Query)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Search with %s for %q.\n", engine, in.Query)
	if answer != "" {
		b.WriteString("\n" + text.Characters(strings.TrimSpace(answer), maxAnswer) + "\n")
	}
	for i, h := range hits {
		fmt.Fprintf(&b, "\n%d. %s\n   %s\n", i+1, h.Title, h.URL)
		if h.Age != "" {
			fmt.Fprintf(&b, "   (%s)\n", h.Age)
		}
		if h.Excerpt != "" {
			fmt.Fprintf(&b, "   %s\n", h.Excerpt)
		}
	}
	return b.String()
}

// wide is everything that models send.
type wide struct {
	Input
	Q          string `json:"q,omitempty"`
	MaxResults int    `json:"max_results,omitempty"`
}

func (w wide) own() (Input, error) {
	in := w.Input
	if in.Query == "" {
		in.Query = w.Q
	}
	if in.NumResults == 0 {
		in.NumResults = w.MaxResults
	}
	in.NumResults = min(in.NumResults, maxHits)
	in.Query = strings.Join(strings.Fields(in.Query), " ")
	return in, nil
}

type claudeShown struct {
	Query          string   `json:"query" jsonschema:"what to search for"`
	AllowedDomains []string `json:"allowed_domains,omitempty" jsonschema:"only hits on these hosts and below"`
	BlockedDomains []string `json:"blocked_domains,omitempty" jsonschema:"no hits on these hosts and below"`
}

type queryShown struct {
	Query string `json:"query" jsonschema:"what to search for"`
}

type countShown struct {
	Query      string `json:"query" jsonschema:"what to search for"`
	NumResults int    `json:"num_results,omitempty" jsonschema:"the number of results, 5 if left out"`
}

func bindings() map[string][]agent.Binding {
	return map[string][]agent.Binding{
		"anthropic": {agent.Understand[claudeShown](Name, Name, wide.own)},
		"openai":    {agent.Understand[countShown](Name, "web_search", wide.own)},
		"gemini":    {agent.Understand[queryShown](Name, "google_web_search", wide.own)},
		"spec":      {agent.Understand[countShown](Name, "web_search", wide.own)},
		// What the Open Agent SDK calls it.
		"": {agent.Understand[countShown](Name, Name, wide.own)},
	}
}
