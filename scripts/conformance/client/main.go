// Command client is what the conformance suite of the protocol starts for each of its
// client scenarios: Atelier's own connections and its own authorisation, with a
// person who consents to everything. The suite gives the server's address as the last
// argument and the rest in variables.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/oauth"
)

// patience is shorter than the suite's.
const patience = 60 * time.Second

// consents is how often the person consents.
const consents = 3

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	err := run(ctx, os.Args[len(os.Args)-1], os.Getenv("MCP_CONFORMANCE_SCENARIO"), os.Getenv("MCP_CONFORMANCE_CONTEXT"))
	cancel()
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println("done")
}

// given is what the suite gives to some scenarios.
type given struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Issuer       string `json:"issuer"`
	PrivateKey   string `json:"private_key_pem"`
	Workload     string `json:"valid_jwt"`
	Identity     string `json:"idp_id_token"`
	IdentityURL  string `json:"idp_token_endpoint"`
	IdentityID   string `json:"idp_client_id"`
	Calls        []call `json:"toolCalls"`
}

type call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// server is the suite's server as a user would configure it.
func server(address, scenario string, with given) mcp.Server {
	auth := mcp.OAuth{ClientID: with.ClientID, ClientSecret: with.ClientSecret, Issuer: with.Issuer}
	how := &auth.Unattended
	switch {
	case with.Workload != "":
		how.Grant, how.Assertion = mcp.GrantAssertion, with.Workload
	case with.Identity != "":
		how.Grant, how.Assertion, how.IdentityURL, how.IdentityClient = mcp.GrantIdentity, with.Identity, with.IdentityURL, with.IdentityID
	case with.PrivateKey != "":
		how.Grant, how.PrivateKey = mcp.GrantClient, with.PrivateKey
	case scenario == "auth/client-credentials-basic":
		how.Grant = mcp.GrantClient
	case scenario == "auth/basic-cimd":
		auth.MetadataURL = "https://conformance-test.local/client-metadata.json"
	}
	return mcp.Server{Name: "suite", Transport: mcp.TransportHTTP, Remote: mcp.Remote{URL: address, OAuth: auth}}
}

// client is Atelier's side of one scenario.
type client struct {
	manager   *mcp.Manager
	authority *oauth.Authority
	server    mcp.Server
	news      chan struct{}
	consents  int
}

func run(ctx context.Context, address, scenario, text string) error {
	var with given
	if text != "" {
		if err := json.Unmarshal([]byte(text), &with); err != nil {
			return fmt.Errorf("read the suite's context: %w", err)
		}
	}
	c := &client{
		authority: oauth.New(oauth.Config{TokenStore: &drawer{texts: map[string]string{}}, Version: "1.0.0"}),
		server:    server(address, scenario, with), news: make(chan struct{}, 1),
	}
	defer c.authority.Close()
	base := mcp.NewTransport()
	c.manager = mcp.New(mcp.Config{
		Version: "1.0.0", Dir: os.TempDir(), Environ: os.Environ, Asker: person{}, Now: time.Now,
		RoundTripper: func(s mcp.Server) http.RoundTripper { return c.authority.RoundTripper(s, base) },
		Changed: func() {
			select {
			case c.news <- struct{}{}:
			default:
			}
		},
	})
	defer func() { _ = c.manager.Close(context.Background()) }()
	for name, err := range c.manager.SetServers([]mcp.Server{c.server}).Errors {
		return fmt.Errorf("connect to %s: %w", name, err)
	}
	if err := c.connected(ctx); err != nil {
		return err
	}
	return c.use(ctx, with.Calls)
}

// connected waits until the server is connected, and has the person consent if the
// server wants that.
func (c *client) connected(ctx context.Context) error {
	for {
		switch status := c.manager.Status()[0]; status.State {
		case mcp.StateConnected:
			return nil
		case mcp.StateNeedsAuth:
			if err := c.consent(ctx, status.Reason); err != nil {
				return err
			}
			if err := c.manager.Reconnect(ctx, c.server.Name); err != nil && !errors.Is(err, mcp.ErrNeedsAuth) {
				return fmt.Errorf("connect again: %w", err)
			}
			continue
		case mcp.StateFailed:
			return fmt.Errorf("connect: %w", status.Reason)
		}
		select {
		case <-c.news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// consent opens the address where the person consents, and waits for the tokens.
func (c *client) consent(ctx context.Context, why error) error {
	if c.consents++; c.consents > consents {
		return fmt.Errorf("the server asks again and again: %w", why)
	}
	address, wait, err := c.authority.Authorise(ctx, c.server)
	if err != nil {
		return fmt.Errorf("authorise: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("browse: %w", err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	if err := wait(ctx); err != nil {
		return fmt.Errorf("authorise: %w", err)
	}
	return nil
}

// use does with a server what sessions do: it calls the tools that models are offered,
// reads the resources and expands the prompts.
func (c *client) use(ctx context.Context, calls []call) error {
	if calls == nil {
		calls = c.everything()
	}
	for _, one := range calls {
		if err := c.call(ctx, one); err != nil {
			return fmt.Errorf("call %s: %w", one.Name, err)
		}
	}
	resources, err := c.manager.Resources(ctx, c.server.Name)
	if err != nil {
		return fmt.Errorf("list resources: %w", err)
	}
	for _, one := range resources {
		if _, err := c.manager.ReadResource(ctx, c.server.Name, one.URI); err != nil && !one.Template {
			return fmt.Errorf("read %s: %w", one.URI, err)
		}
	}
	prompts, err := c.manager.Prompts(ctx, c.server.Name)
	if err != nil {
		return fmt.Errorf("list prompts: %w", err)
	}
	for _, one := range prompts {
		if _, err := c.manager.GetPrompt(ctx, c.server.Name, one.Name, nil); err != nil {
			return fmt.Errorf("expand %s: %w", one.Name, err)
		}
	}
	return nil
}

// call calls a tool, and once more after each consent that the server wants for it.
func (c *client) call(ctx context.Context, one call) error {
	for {
		result, err := c.manager.Call(ctx, mcp.CallRequest{Server: c.server.Name, Tool: one.Name, Input: one.Arguments, Session: "suite", CallID: one.Name})
		if err == nil && result.IsError {
			fmt.Printf("%s failed: %v\n", one.Name, result.Content)
		}
		if fault := (*mcp.Fault)(nil); errors.As(err, &fault) && fault.Kind == mcp.FaultAnswer {
			fmt.Printf("%s failed: %v\n", one.Name, err)
			return nil // an answer, too
		}
		if !errors.Is(err, mcp.ErrNeedsAuth) {
			return err
		}
		if err := c.consent(ctx, err); err != nil {
			return err
		}
		if err := c.manager.Reconnect(ctx, c.server.Name); err != nil {
			return fmt.Errorf("connect again: %w", err)
		}
	}
}

// everything is a call of each tool. A tool that takes a schema gets the one of the first
// tool, as we received it.
func (c *client) everything() []call {
	var calls []call
	groups, _ := c.manager.Tools()
	for _, group := range groups {
		for _, tool := range group.Tools {
			if tool.Problem == "" {
				calls = append(calls, call{Name: tool.Name, Arguments: arguments(tool.Schema, group.Tools[0].Schema)})
			}
		}
	}
	return calls
}

func arguments(schema, first json.RawMessage) json.RawMessage {
	var shape struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	_ = json.Unmarshal(schema, &shape)
	values := map[string]any{}
	for name, property := range shape.Properties {
		if !slices.Contains(shape.Required, name) {
			continue
		}
		switch {
		case name == "schema":
			values[name] = first
		case property.Type == "number", property.Type == "integer":
			values[name] = 3
		case property.Type == "boolean":
			values[name] = true
		case property.Type == "object":
			values[name] = struct{}{}
		case property.Type == "array":
			values[name] = []any{}
		default:
			values[name] = "text"
		}
	}
	text, err := json.Marshal(values)
	if err != nil {
		return json.RawMessage("{}")
	}
	return text
}

// person accepts every form, with its defaults, and samples nothing.
type person struct{}

func (person) Sample(context.Context, mcp.Caller, mcp.SamplingRequest) (mcp.SamplingResult, error) {
	return mcp.SamplingResult{}, mcp.ErrRefused
}

func (person) Elicit(_ context.Context, _ mcp.Caller, r mcp.ElicitRequest) (mcp.ElicitResult, error) {
	var form struct {
		Properties map[string]struct {
			Type    string `json:"type"`
			Default any    `json:"default"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(r.Schema, &form); err != nil {
		return mcp.ElicitResult{}, err
	}
	values := map[string]any{}
	for name, property := range form.Properties {
		switch {
		case property.Default != nil:
			values[name] = property.Default
		case property.Type == "boolean":
			values[name] = true
		}
	}
	content, err := json.Marshal(values)
	return mcp.ElicitResult{Action: mcp.ActionAccept, Content: content}, err
}

// drawer keeps tokens as long as the program runs.
type drawer struct {
	mu    sync.Mutex
	texts map[string]string
}

func (d *drawer) Load(_ context.Context, key string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.texts[key], nil
}

func (d *drawer) Save(_ context.Context, key, secret string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.texts[key] = secret
	return nil
}

func (d *drawer) Remove(_ context.Context, key string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.texts, key)
	return nil
}
