package browser

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/chromedp/chromedp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

//go:embed browser.md
var description string

// Name is the tool's canonical name.
const Name = "Browser"

// How much of a page one result has, in characters, and of a log, in lines.
const (
	maxRead    = 20_000
	maxGlance  = 4_000
	maxTrouble = 15
	maxLog     = 100
)

// Card is what the tool's card shows of a call. All of it is the page's own.
type Card struct {
	URL     string   `json:"url,omitempty"`
	Title   string   `json:"title,omitempty"`
	Status  int64    `json:"status,omitempty"`
	Trouble []string `json:"trouble,omitempty"`
}

// tool is the tool of one session.
type tool struct {
	spec    agent.Spec
	browser *Browser
}

// Tool returns the tool of a session, whose browser it is.
func Tool(b *Browser) agent.Tool {
	return &tool{agent.Spec{
		Name: Name, Description: strings.TrimSpace(description), Schema: agent.SchemaOf[Input](), OpenWorld: true, Bindings: bindings(),
	}, b}
}

// Spec implements [agent.Tool].
func (t *tool) Spec() agent.Spec { return t.spec }

// Validate implements [agent.Validator].
func (t *tool) Validate(raw json.RawMessage) error {
	var in Input
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	return in.Validate()
}

// Access implements [agent.Accessor]: the host that a call has the browser ask. What only
// looks at the page that is open asks nobody.
func (t *tool) Access(_ context.Context, raw json.RawMessage) agent.Access {
	var in Input
	if json.Unmarshal(raw, &in) != nil {
		return agent.Access{}
	}
	switch in.Action {
	case Navigate:
		if to, err := parse(in.URL); err == nil {
			return agent.Access{Web: to.Host()}
		}
	case Click, Type:
		if host := t.browser.host(); host != "" {
			return agent.Access{Web: host}
		}
	}
	return agent.Access{Own: true}
}

// host returns the host of the page that is open; empty if there is none.
func (b *Browser) host() string {
	t := b.current()
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	u, err := url.Parse(t.at)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Run implements [agent.Tool].
func (t *tool) Run(ctx context.Context, call agent.Invocation) agent.Result {
	var in Input
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return agent.Fail(fmt.Sprintf("The arguments cannot be read: %v.", err))
	}
	if err := t.browser.enter(ctx); err != nil {
		return agent.Fail("Nothing was done: " + err.Error() + ".")
	}
	defer t.browser.leave()
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.browser.life, cancel)()
	result, err := t.browser.run(within, in)
	if err != nil {
		if open := t.browser.current(); open != nil && open.failure() != nil {
			t.browser.stop()
		}
		message := strings.TrimSuffix(err.Error(), ".") + "."
		return agent.Fail(strings.ToUpper(message[:1]) + message[1:])
	}
	return result
}

// run does what a call asks for. The caller has the turn.
func (b *Browser) run(ctx context.Context, in Input) (agent.Result, error) {
	if in.Action == Navigate {
		return b.navigate(ctx, in)
	}
	t, err := b.page()
	if in.Action == Close {
		b.stop()
		return agent.Result{Output: "The browser is closed."}, nil
	}
	if err != nil {
		return agent.Result{}, err
	}
	switch in.Action {
	case Click:
		el, err := t.click(ctx, in.Target)
		if err != nil {
			return agent.Result{}, err
		}
		return t.shown(ctx, fmt.Sprintf("Clicked: %s %q.", el.Kind, el.Name), maxGlance)
	case Type:
		el, err := t.fill(ctx, in)
		if err != nil {
			return agent.Result{}, err
		}
		return t.shown(ctx, fmt.Sprintf("Filled in: %s %q.", el.Kind, el.Name), maxGlance)
	case Screenshot:
		return t.screenshot(ctx, in)
	case Console:
		return t.printed(), nil
	case Requests:
		return t.requested(), nil
	}
	return t.shown(ctx, "", maxRead)
}

func (b *Browser) navigate(ctx context.Context, in Input) (agent.Result, error) {
	to, err := parse(in.URL)
	if err != nil {
		return agent.Result{}, err
	}
	t, err := b.open(ctx, to)
	if err != nil {
		return agent.Result{}, err
	}
	if err := t.size(ctx, in); err != nil {
		return agent.Result{}, err
	}
	if err := t.navigate(ctx, in.URL); err != nil {
		return agent.Result{}, err
	}
	result, err := t.shown(ctx, "", maxGlance)
	if err == nil {
		err = t.addPicture(ctx, &result, false)
	}
	return result, err
}

// size sets the size of the window, if a call names one.
func (t *tab) size(ctx context.Context, in Input) error {
	if in.Width == 0 && in.Height == 0 {
		return nil
	}
	return t.do(ctx, func(ctx context.Context, tab *chromedp.Target) error {
		return resize(ctx, tab, cmp.Or(in.Width, usualWidth), cmp.Or(in.Height, usualHeight))
	})
}

func (t *tab) addPicture(ctx context.Context, result *agent.Result, whole bool) error {
	jpeg, err := t.picture(ctx, whole)
	if err != nil {
		return fmt.Errorf("take a picture of the page: %w", err)
	}
	result.Media = []llm.Media{{MIME: "image/jpeg", Name: "page.jpg", Data: jpeg}}
	return nil
}

func (t *tab) screenshot(ctx context.Context, in Input) (agent.Result, error) {
	if err := t.size(ctx, in); err != nil {
		return agent.Result{}, err
	}
	t.settle(ctx)
	c, err := t.read(ctx, 0)
	if err != nil {
		return agent.Result{}, err
	}
	result := t.result(c, "")
	result.Output += "\n[The picture shows the visible part of the page.]"
	if in.FullPage {
		result.Output = strings.Replace(result.Output, "the visible part of the page", fmt.Sprintf("the page, at most its first %d pixels", maxHeight), 1)
	}
	return result, t.addPicture(ctx, &result, in.FullPage)
}

// shown returns the page as a model reads it.
func (t *tab) shown(ctx context.Context, did string, most int) (agent.Result, error) {
	c, err := t.read(ctx, most)
	if err != nil {
		return agent.Result{}, err
	}
	result := t.result(c, did)
	var out strings.Builder
	if out.WriteString("\n\n" + strings.TrimSpace(c.Text)); c.Length > most {
		fmt.Fprintf(&out, "\n[The text has %d characters. Read gives %d of them.]", c.Length, maxRead)
	}
	if len(c.Elements) > 0 {
		out.WriteString("\n\nElements:\n" + strings.Join(c.Elements, "\n"))
	}
	if c.Count > len(c.Elements) {
		fmt.Fprintf(&out, "\n[%d elements are not listed.]", c.Count-len(c.Elements))
	}
	result.Output += out.String()
	return result, nil
}

// result begins a result: where the page is from, and what went wrong since the last one.
func (t *tab) result(c contents, did string) agent.Result {
	trouble := t.untold()
	card := Card{URL: c.URL, Title: c.Title}
	t.mu.Lock()
	if t.document != nil {
		card.Status = t.document.status
	}
	busy := t.loading || len(t.inFlight) > 0
	t.mu.Unlock()
	var lines []string
	if did != "" {
		lines = append(lines, did)
	}
	if c.Title != "" {
		lines = append(lines, "Title: "+c.Title)
	}
	lines = append(lines, "URL: "+c.URL)
	if card.Status >= 400 {
		lines = append(lines, fmt.Sprintf("Status: %d", card.Status))
	}
	if busy {
		lines = append(lines, "[The page still loads.]")
	}
	if len(trouble) > 0 {
		more := len(trouble) - maxTrouble
		card.Trouble = trouble[:min(len(trouble), maxTrouble)]
		lines = append(lines, "New errors:\n"+strings.Join(card.Trouble, "\n"))
		if more > 0 {
			lines = append(lines, fmt.Sprintf("[%d more; see console and network.]", more))
		}
	}
	raw, _ := json.Marshal(card) // strings and a number
	return agent.Result{Output: strings.Join(lines, "\n"), Details: &agent.Details{Card: raw}}
}

// printed returns the console.
func (t *tab) printed() agent.Result {
	t.untold()
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.console) == 0 {
		return agent.Result{Output: "The page has printed nothing."}
	}
	lines := make([]string, 0, maxLog)
	for _, n := range t.console[max(0, len(t.console)-maxLog):] {
		lines = append(lines, n.String())
	}
	return newest("lines", lines, t.dropped+len(t.console))
}

// requested returns the requests.
func (t *tab) requested() agent.Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.requests) == 0 {
		return agent.Result{Output: "The page has requested nothing."}
	}
	lines := make([]string, 0, maxLog)
	for _, r := range t.requests[max(0, len(t.requests)-maxLog):] {
		lines = append(lines, r.String())
	}
	return newest("requests", lines, len(t.requests))
}

func newest(what string, lines []string, all int) agent.Result {
	out := strings.Join(lines, "\n")
	if all > len(lines) {
		out = fmt.Sprintf("[The newest %d of %d %s.]\n", len(lines), all, what) + out
	}
	return agent.Result{Output: out}
}
