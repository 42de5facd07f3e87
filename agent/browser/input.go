package browser

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/plain"
	"atelier.dev/atelier/agent/network"
)

// Action is what a call does.
type Action string

// The actions.
const (
	Navigate   Action = "navigate"
	Read       Action = "read"
	Click      Action = "click"
	Type       Action = "type"
	Screenshot Action = "screenshot"
	Console    Action = "console"
	Requests   Action = "network"
	Close      Action = "close"
)

// Actions lists all of them, in the order in which models are told of them.
var Actions = []Action{Navigate, Read, Click, Type, Screenshot, Console, Requests, Close}

// The limits of a call.
const (
	maxAddress = 2_000
	maxTarget  = 500
	maxText    = 10_000
	minSize    = 200
	maxSize    = 3_000
)

// Input is a call.
type Input struct {
	Action   Action `json:"action" jsonschema:"navigate, read, click, type, screenshot, console, network or close"`
	URL      string `json:"url,omitempty" jsonschema:"for navigate: the whole address, such as http://localhost:5173/"`
	Target   string `json:"target,omitempty" jsonschema:"for click and type: the number of an element, its name, or a CSS selector"`
	Text     string `json:"text,omitempty" jsonschema:"for type: what to fill in"`
	Submit   bool   `json:"submit,omitempty" jsonschema:"for type: press Enter after it"`
	FullPage bool   `json:"full_page,omitempty" jsonschema:"for screenshot: the whole page instead of its visible part"`
	Width    int    `json:"width,omitempty" jsonschema:"for navigate and screenshot: the width of the window in pixels, 1280 if left out"`
	Height   int    `json:"height,omitempty" jsonschema:"for navigate and screenshot: the height of the window in pixels, 800 if left out"`
}

// Validate says in a phrase for the model what is wrong with a call.
func (in Input) Validate() error {
	switch {
	case !slices.Contains(Actions, in.Action):
		return fmt.Errorf("there is no action %.40q; use one of %v", in.Action, Actions)
	case (in.Action == Click || in.Action == Type) && in.Target == "":
		return fmt.Errorf("%s takes a target: the number of an element, its name, or a CSS selector", in.Action)
	}
	for _, size := range []int{in.Width, in.Height} {
		if size != 0 && (size < minSize || size > maxSize) {
			return fmt.Errorf("a window is %d to %d pixels wide and high", minSize, maxSize)
		}
	}
	if in.Action == Navigate {
		if _, err := parse(in.URL); err != nil {
			return err
		}
	}
	return cmp.Or(plain.Check("the target", in.Target, maxTarget, false), plain.Check("the text", in.Text, maxText, false))
}

// parse returns the host and the port of an address. The error is a phrase for the model.
func parse(text string) (network.Target, error) {
	u, err := url.Parse(text)
	port := uint64(80)
	switch {
	case len(text) > maxAddress:
		return network.Target{}, fmt.Errorf("the address has more than %d characters", maxAddress)
	case err != nil || u.Opaque != "" || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return network.Target{}, errors.New("navigate takes a url: a whole address that begins with http:// or https://")
	case u.User != nil:
		return network.Target{}, errors.New("an address with a user or a password cannot be opened: leave them out")
	case u.Scheme == "https":
		port = 443
	}
	if digits := u.Port(); digits != "" {
		if port, err = strconv.ParseUint(digits, 10, 16); err != nil {
			return network.Target{}, errors.New("the port of the address is not a number from 1 to 65535")
		}
	}
	target, err := network.NewTarget(u.Hostname(), uint16(port))
	if err != nil {
		return network.Target{}, fmt.Errorf("the address cannot be opened: %w", err)
	}
	return target, nil
}

// wide is a call as any model sends it.
type wide struct {
	Input
	Selector string `json:"selector,omitempty"`
	Element  string `json:"element,omitempty"`
	Ref      string `json:"ref,omitempty"`
}

func (w wide) own() (Input, error) {
	in := w.Input
	in.Target = cmp.Or(in.Target, w.Ref, w.Selector, w.Element)
	return in, nil
}

func bindings() map[string][]agent.Binding {
	others := []agent.Binding{agent.Understand[Input](Name, "browser", wide.own)}
	return map[string][]agent.Binding{
		"anthropic": {agent.Understand[Input](Name, Name, wide.own)},
		"openai":    others, "gemini": others, "spec": others,
	}
}
