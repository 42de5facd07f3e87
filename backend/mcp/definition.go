package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend/settings"
	"atelier.dev/atelier/internal/text"
)

// Limits of a definition.
const (
	maxName    = 100
	maxServers = 200 // of a file
	maxList    = 500 // arguments, variables, headers and names of tools
	maxText    = 64 << 10
)

// definition is a server as a file defines it.
type definition struct {
	draft  ServerDraft // with the values of secrets, as they are written
	origin ServerOrigin
	file   settings.File
	raw    json.RawMessage
	// off says that the file has it off; offTools are the tools that it switches
	// off, and onlyTools, if it is not nil, the only ones that are on.
	off                 bool
	offTools, onlyTools []string
	clientSecret        string // for OAuth, as it is written
	metadataURL         string
	findings            []ServerFinding
}

// broken reports whether the server cannot be connected as it is written.
func (d *definition) broken() bool {
	return slices.ContainsFunc(d.findings, func(f ServerFinding) bool { return !f.Harmless })
}

// own reports whether the definition is the user's, and not the project's.
func (d *definition) own() bool { return d.origin.Scope == agent.ScopeUser || d.given() }

// id identifies the definition: another one has another id.
func (d *definition) id() string {
	sum := sha256.New()
	for _, part := range []string{d.origin.File, d.draft.Name, string(d.raw)} {
		sum.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return "server-" + hex.EncodeToString(sum.Sum(nil))[:24]
}

func (d *definition) find(id ServerFindingID, args ...string) {
	for i, arg := range args {
		args[i] = clip(arg)
	}
	f := finding(id, args...)
	if !slices.ContainsFunc(d.findings, func(o ServerFinding) bool { return o.Message == f.Message }) {
		d.findings = append(d.findings, f)
	}
}

// parse reads one member of an object of servers.
func parse(name string, raw json.RawMessage) *definition {
	d := &definition{raw: raw, draft: ServerDraft{Name: name}}
	switch {
	case strings.TrimSpace(name) == "":
		d.find(FindingNameEmpty)
	case strings.Contains(name, "__"):
		d.find(FindingNameUnderscores)
	case utf8.RuneCountInString(name) > maxName:
		d.draft.Name = clip(name)
		d.find(FindingNameLong, strconv.Itoa(maxName))
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.TrimSpace(name) != name:
		d.draft.Name = strings.Trim(strconv.Quote(name), `"`)
		d.find(FindingNameHidden)
	}
	members, _, err := settings.Members(raw, 0)
	if err != nil {
		d.find(FindingNotObject)
		return d
	}
	p := parser{definition: d}
	for _, m := range members {
		p.member(m.Name, m.Raw)
	}
	p.settle()
	return d
}

// parser reads the members of a definition.
type parser struct {
	*definition
	kind string // as it is written
}

func (p *parser) member(name string, raw json.RawMessage) {
	if string(raw) == "null" { // other programs write null for what is absent
		return
	}
	d := &p.draft
	switch name {
	case "type", "transport":
		p.kind = p.text(name, raw)
	case "command":
		p.command(raw)
	case "args":
		d.Args = append(d.Args, p.texts(name, raw)...)
	case "env", "environment":
		d.Env = p.pairs(name, raw)
	case "cwd", "workingDirectory":
		d.Dir = p.text(name, raw)
	case "url", "serverUrl", "httpUrl":
		d.URL = p.text(name, raw)
	case "headers", "http_headers":
		d.Headers = p.pairs(name, raw)
	case "id":
		d.ProxyID = p.text(name, raw)
	case "oauth":
		p.oauth(raw)
	case "trusted", "trust":
		d.Options.Trusted = p.flag(name, raw)
	case "alwaysLoad", "alwaysShown":
		d.Options.AlwaysShown = p.flag(name, raw)
	case "timeout", "tool_timeout_ms":
		d.Options.CallMS = p.milliseconds(name, raw, 1)
	case "tool_timeout_sec":
		d.Options.CallMS = p.milliseconds(name, raw, 1000)
	case "startTimeout", "startup_timeout_ms":
		d.Options.StartMS = p.milliseconds(name, raw, 1)
	case "startup_timeout_sec":
		d.Options.StartMS = p.milliseconds(name, raw, 1000)
	case "disabled":
		p.off = p.flag(name, raw)
	case "enabled":
		p.off = !p.flag(name, raw)
	case "disabledTools", "disabled_tools", "excludeTools":
		p.offTools = p.texts(name, raw)
	case "enabledTools", "enabled_tools", "includeTools":
		p.onlyTools = append([]string{}, p.texts(name, raw)...)
	case "headersHelper":
		p.find(FindingHelper)
	case "envFile":
		p.find(FindingEnvFile, p.text(name, raw))
	case "autoApprove", "alwaysAllow", "auth", "authProviderType":
		p.find(FindingIgnored, name)
	case "name", "title", "description", "version", "gallery", "dev", "required", "$schema", "author", "homepage", "icon", "sandboxEnabled":
	default:
		p.find(FindingUnknown, name)
	}
}

// text reads a text. Numbers and booleans are taken as they are written.
func (p *parser) text(member string, raw json.RawMessage) string {
	var v any
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	_ = dec.Decode(&v) // a member is valid JSON
	text := ""
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	case bool:
		text = strconv.FormatBool(v)
	default:
		p.find(FindingMember, member)
		return ""
	}
	if len(text) > maxText || strings.ContainsRune(text, 0) {
		p.find(FindingMember, member)
		return ""
	}
	return text
}

func (p *parser) texts(member string, raw json.RawMessage) (out []string) {
	all, _, err := settings.Elements(raw, 0)
	if err != nil || len(all) > maxList {
		p.find(FindingMember, member)
		return nil
	}
	for _, one := range all {
		out = append(out, p.text(member, one.Raw))
	}
	return out
}

func (p *parser) pairs(member string, raw json.RawMessage) map[string]string {
	all, _, err := settings.Members(raw, 0)
	if err != nil || len(all) > maxList {
		p.find(FindingMember, member)
		return nil
	}
	out := map[string]string{}
	for _, one := range all {
		if string(one.Raw) != "null" {
			out[one.Name] = p.text(member, one.Raw)
		}
	}
	return out
}

func (p *parser) flag(member string, raw json.RawMessage) (on bool) {
	if json.Unmarshal(raw, &on) != nil {
		p.find(FindingMember, member)
	}
	return on
}

// maxTime limits what a file says about times, in milliseconds.
const maxTime = 24 * 60 * 60 * 1000

func (p *parser) milliseconds(member string, raw json.RawMessage, unit float64) int {
	var n float64
	if json.Unmarshal(raw, &n) != nil || n < 0 || n*unit > maxTime {
		p.find(FindingMember, member)
		return 0
	}
	return int(n * unit)
}

// command reads a program, or a list of it and its arguments.
func (p *parser) command(raw json.RawMessage) {
	if len(raw) == 0 || raw[0] != '[' {
		p.draft.Command = p.text("command", raw)
		return
	}
	if words := p.texts("command", raw); len(words) > 0 {
		p.draft.Command, p.draft.Args = words[0], append(words[1:], p.draft.Args...)
	}
}

func (p *parser) oauth(raw json.RawMessage) {
	members, _, err := settings.Members(raw, 0)
	if err != nil {
		p.find(FindingMember, "oauth")
		return
	}
	o := &OAuthDraft{}
	for _, m := range members {
		switch m.Name {
		case "clientId", "client_id":
			o.ClientID = p.text("oauth", m.Raw)
		case "clientSecret", "client_secret":
			p.clientSecret = p.text("oauth", m.Raw)
		case "clientMetadataUrl", "client_metadata_url":
			p.metadataURL = p.text("oauth", m.Raw)
		case "callbackPort", "callback_port":
			if json.Unmarshal(m.Raw, &o.CallbackPort) != nil || o.CallbackPort < 0 || o.CallbackPort > 65535 {
				o.CallbackPort = 0
				p.find(FindingMember, "oauth")
			}
		case "scopes", "scope":
			if len(m.Raw) > 0 && m.Raw[0] == '[' {
				o.Scopes = p.texts("oauth", m.Raw)
			} else {
				o.Scopes = strings.Fields(p.text("oauth", m.Raw))
			}
		default:
			p.find(FindingUnknown, "oauth."+m.Name)
		}
	}
	p.draft.OAuth = o
}

// The transports as files name them.
const (
	kindStdio, kindHTTP, kindSSE, kindProxy = "stdio", "http", "sse", "claudeai-proxy"
)

var kinds = map[string]string{
	"stdio": kindStdio, "local": kindStdio, "http": kindHTTP, "streamable-http": kindHTTP, "streamable_http": kindHTTP, "streamablehttp": kindHTTP,
	"remote": kindHTTP, "sse": kindSSE, "claudeai-proxy": kindProxy,
}

// settle decides the transport, and says what is missing for it.
func (p *parser) settle() {
	d := &p.draft
	var known bool
	d.Transport, known = kinds[strings.ToLower(p.kind)]
	switch {
	case p.kind != "" && !known:
		d.Transport = clip(p.kind)
		p.find(FindingTransport, p.kind)
		return
	case p.kind == "" && d.Command != "":
		d.Transport = kindStdio
	case p.kind == "" && d.URL != "":
		d.Transport = kindHTTP
		p.find(FindingTypeAssumed)
	case p.kind == "":
		d.Transport = kindStdio
		p.find(FindingNothing)
		return
	}
	if d.Transport == kindStdio {
		if strings.TrimSpace(d.Command) == "" {
			p.find(FindingNoCommand)
		}
		if d.URL != "" || len(d.Headers) > 0 {
			p.find(FindingIgnored, cmp.Or(map[bool]string{true: "url"}[d.URL != ""], "headers"))
		}
		p.variables()
		return
	}
	if d.URL == "" {
		p.find(FindingNoURL)
	} else if u, err := url.Parse(d.URL); err != nil && !strings.Contains(d.URL, "${") || err == nil && u.User != nil {
		p.find(FindingURL)
	}
	if d.Command != "" {
		p.find(FindingIgnored, "command")
	}
	p.headers()
}

// variables checks the names of environment variables.
func (p *parser) variables() {
	for name := range p.draft.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			p.find(FindingVariableName, name)
		}
	}
}

// headers checks names and values of headers.
func (p *parser) headers() {
	for name, value := range p.draft.Headers {
		token := name != "" && !strings.ContainsFunc(name, func(r rune) bool {
			return r > 126 || r < 33 || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
		})
		if !token || strings.ContainsAny(value, "\r\n\x00") {
			p.find(FindingHeader, name)
		}
	}
}

// clip shortens a foreign text for a sentence, on one line.
func clip(s string) string { return text.Shorten(text.Line(s), maxName) }
