package offer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"github.com/google/jsonschema-go/jsonschema"
)

// The limits of a schema. What lies deeper, or beyond them, accepts anything; the
// server checks it.
const (
	maxSchema = 64 << 10 // bytes of a schema as models are shown it
	maxDepth  = 12
	maxNodes  = 2_000
	maxWords  = 1_000 // bytes of a description in a schema
	maxMember = 64    // characters of a member's name
)

// shape is the schema of a server's tool in the form that every provider accepts:
// an object at the root, without alternatives there, without references, and of
// the few keywords that all of them know.
type shape struct {
	schema json.RawMessage
	// names has the server's own names of members that had to be renamed.
	names map[string]string
}

// adapt makes a shape of a stranger's schema. It has whatever calls need; where it
// says less than the server did, the server itself still checks the call. The
// error, a phrase, says why there is no such form.
func adapt(raw json.RawMessage) (shape, error) {
	root := map[string]any{}
	if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && !bytes.Equal(trimmed, []byte("null")) {
		decoder := json.NewDecoder(bytes.NewReader(trimmed))
		decoder.UseNumber()
		var read any
		if err := decoder.Decode(&read); err != nil {
			return shape{}, fmt.Errorf("its schema cannot be read: %w", err)
		}
		var ok bool
		if root, ok = read.(map[string]any); !ok {
			return shape{}, fmt.Errorf("its schema is not an object")
		}
	}
	var out map[string]any
	for depth := maxDepth; out == nil || len(encode(out)) > maxSchema && depth > 0; depth /= 2 {
		var err error
		if out, err = adaptTo(root, depth); err != nil {
			return shape{}, err
		}
	}
	s := shape{names: rename(out)}
	s.schema = encode(out)
	if len(s.schema) > maxSchema {
		return shape{}, fmt.Errorf("its schema has more than %d kilobytes", maxSchema>>10)
	}
	var parsed jsonschema.Schema
	if err := parsed.UnmarshalJSON(s.schema); err != nil {
		return shape{}, fmt.Errorf("its schema does not work: %w", err)
	}
	if _, err := parsed.Resolve(nil); err != nil {
		return shape{}, fmt.Errorf("its schema does not work: %w", err)
	}
	return s, nil
}

// adaptTo copies a schema to a depth.
func adaptTo(root map[string]any, depth int) (map[string]any, error) {
	a := adapter{root: root, depth: depth, open: map[string]bool{}}
	top, _ := a.follow(root)
	flat := a.flatten(top)
	if kinds := types(flat["type"]); len(kinds) > 0 && !slices.Contains(kinds, "object") {
		return nil, fmt.Errorf("its input is not an object but %s", strings.Join(kinds, " or "))
	}
	flat["type"] = "object"
	out := a.node(flat, 0)
	if out["properties"] == nil {
		out["properties"] = map[string]any{}
	}
	return out, nil
}

// input returns a call's arguments under the server's own names.
func (s shape) input(args json.RawMessage) (json.RawMessage, error) {
	if len(s.names) == 0 {
		return args, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(args, &members); err != nil {
		return nil, fmt.Errorf("read the arguments: %w", err)
	}
	own := make(map[string]json.RawMessage, len(members))
	for name, value := range members {
		if original, renamed := s.names[name]; renamed {
			name = original
		}
		own[name] = value
	}
	return json.Marshal(own)
}

// encode writes a schema; the same one has the same bytes.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(fmt.Sprintf("offer: %v", err)) // it was read from JSON
	}
	return bytes.TrimSpace(b.Bytes())
}

// adapter copies the parts of one schema.
type adapter struct {
	root  map[string]any
	depth int
	nodes int
	open  map[string]bool // references whose targets are being copied
}

// follow returns a node, or what its references lead to, as far as that is in
// the same schema and does not contain itself. It also returns the references.
func (a *adapter) follow(node map[string]any) (target map[string]any, refs []string) {
	for {
		ref, ok := node["$ref"].(string)
		if !ok {
			return node, refs
		}
		target := a.find(ref)
		if target == nil || a.open[ref] || slices.Contains(refs, ref) {
			return map[string]any{"type": target["type"], "description": node["description"]}, refs
		}
		refs = append(refs, ref)
		merged := maps.Clone(target)
		for key, value := range node {
			if key != "$ref" {
				merged[key] = value
			}
		}
		node = merged
	}
}

// find returns the part of the schema that a reference names, or nil.
func (a *adapter) find(ref string) map[string]any {
	path, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	var at any = a.root
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~", "%24", "$").Replace(step)
		switch in := at.(type) {
		case map[string]any:
			if step != "" {
				at = in[step]
			}
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(in) {
				return nil
			}
			at = in[n]
		default:
			return nil
		}
	}
	found, _ := at.(map[string]any)
	return found
}

// flatten merges the alternatives at the root, which providers do not accept
// there: a member of any alternative is a member, and what all demand is
// demanded.
func (a *adapter) flatten(root map[string]any) map[string]any {
	out := maps.Clone(root)
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		delete(out, keyword)
		branches, _ := root[keyword].([]any)
		if len(branches) == 0 || len(branches) > maxNodes {
			continue
		}
		var demanded []string
		members := map[string]any{}
		for i, b := range branches {
			branch, ok := b.(map[string]any)
			if !ok {
				continue
			}
			branch, _ = a.follow(branch)
			own, _ := branch["properties"].(map[string]any)
			for name, schema := range own {
				if before, twice := members[name]; twice && keyword != "allOf" {
					schema = either(before, schema)
				}
				members[name] = schema
			}
			switch wants := words(branch["required"]); {
			case keyword == "allOf":
				demanded = append(demanded, wants...)
			case i == 0:
				demanded = wants
			default:
				demanded = slices.DeleteFunc(demanded, func(name string) bool { return !slices.Contains(wants, name) })
			}
		}
		all, _ := out["properties"].(map[string]any)
		all = maps.Clone(all)
		if all == nil {
			all = map[string]any{}
		}
		for name, schema := range members {
			if _, there := all[name]; !there {
				all[name] = schema
			}
		}
		out["properties"] = all
		var required []any
		for _, name := range slices.Concat(words(out["required"]), demanded) {
			required = append(required, name)
		}
		out["required"] = required
	}
	return out
}

// either is a schema that accepts what one of two accepts.
func either(a, b any) any {
	if first, ok := a.(map[string]any); ok && len(first) == 1 && first["anyOf"] != nil {
		if options, ok := first["anyOf"].([]any); ok && len(options) < 20 {
			return map[string]any{"anyOf": append(slices.Clip(options), b)}
		}
		return a
	}
	return map[string]any{"anyOf": []any{a, b}}
}

// node copies what providers know of a schema, and leaves out the rest.
func (a *adapter) node(v any, depth int) map[string]any {
	in, ok := v.(map[string]any)
	if a.nodes++; !ok || depth > a.depth || a.nodes > maxNodes {
		return map[string]any{}
	}
	in, refs := a.follow(in)
	for _, ref := range refs {
		a.open[ref] = true
		defer delete(a.open, ref)
	}
	out := map[string]any{}
	kinds := types(in["type"])
	switch len(kinds) {
	case 0:
	case 1:
		out["type"] = kinds[0]
	default:
		out["type"] = kinds
	}
	if text, ok := in["description"].(string); ok && text != "" {
		out["description"] = plain(text, maxWords)
	}
	a.values(in, out)
	a.bounds(in, out)
	a.members(in, out, depth)
	a.items(in, out, depth)
	options, _ := in["anyOf"].([]any)
	if len(options) == 0 {
		options, _ = in["oneOf"].([]any)
	}
	if all, _ := in["allOf"].([]any); len(options) == 0 && len(all) == 1 && len(kinds) == 0 {
		options = all
	}
	var kept []any
	for _, option := range options {
		kept = append(kept, a.node(option, depth+1))
	}
	if len(kept) > 0 {
		out["anyOf"] = kept
	}
	return out
}

// types are the kinds of values that a schema allows.
func types(v any) []string {
	known := []string{"object", "array", "string", "number", "integer", "boolean", "null"}
	var out []string
	for _, kind := range append(words(v), text(v)) {
		if slices.Contains(known, kind) && !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	return out
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// words are the strings of a list.
func words(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// values copies what a value may be. Values that look like our own marks to a
// model are left out.
func (a *adapter) values(in, out map[string]any) {
	list, _ := in["enum"].([]any)
	if value, ok := in["const"]; ok {
		list = []any{value}
	}
	if len(list) > 0 && len(list) <= maxNodes && harmless(list) {
		out["enum"] = list
	}
	if value, ok := in["default"]; ok && value != nil && harmless(value) && len(encode(value)) <= maxWords {
		out["default"] = value
	}
	if format := text(in["format"]); format != "" && len(format) <= maxMember && harmless(format) {
		out["format"] = format
	}
}

// harmless reports whether a value has no mark that [agent.EscapeTags] would
// change.
func harmless(v any) bool {
	written := string(encode(v))
	return agent.EscapeTags(written) == written
}

// bounds copies the limits of a value.
func (a *adapter) bounds(in, out map[string]any) {
	for _, key := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
		if n, ok := in[key].(json.Number); ok {
			if f, err := n.Float64(); err == nil && !math.IsInf(f, 0) {
				out[key] = n
			}
		}
	}
	for _, key := range []string{"minLength", "maxLength", "minItems", "maxItems"} {
		if n, ok := in[key].(json.Number); ok {
			if i, err := n.Int64(); err == nil && i >= 0 && i <= math.MaxInt32 {
				out[key] = n
			}
		}
	}
	if pattern := text(in["pattern"]); pattern != "" && len(pattern) <= maxWords && harmless(pattern) {
		if _, err := regexp.Compile(pattern); err == nil {
			out["pattern"] = pattern
		}
	}
}

// members copies the members of an object.
func (a *adapter) members(in, out map[string]any, depth int) {
	all, _ := in["properties"].(map[string]any)
	kept := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if harmless(name) && len(kept) < maxNodes {
			kept[name] = a.node(all[name], depth+1)
		}
	}
	if len(kept) > 0 {
		out["properties"] = kept
	}
	var required []string
	for _, name := range words(in["required"]) {
		if _, there := kept[name]; there && !slices.Contains(required, name) {
			required = append(required, name)
		}
	}
	if len(required) > 0 {
		out["required"] = required
	}
	switch other := in["additionalProperties"].(type) {
	case bool:
		if other || len(kept) == len(all) {
			out["additionalProperties"] = other
		}
	case map[string]any:
		out["additionalProperties"] = a.node(other, depth+1)
	}
}

// items copies what a list has. A list whose items differ by their place has
// items of any of those kinds.
func (a *adapter) items(in, out map[string]any, depth int) {
	tuple, _ := in["prefixItems"].([]any)
	if list, ok := in["items"].([]any); ok {
		tuple = list
	}
	var kinds []any
	for _, item := range tuple {
		kinds = append(kinds, a.node(item, depth+1))
	}
	switch item, ok := in["items"].(map[string]any); {
	case len(kinds) > 0:
		if ok {
			kinds = append(kinds, a.node(item, depth+1))
		}
		out["items"] = map[string]any{"anyOf": kinds}
	case ok:
		out["items"] = a.node(item, depth+1)
	case slices.Contains(types(in["type"]), "array"):
		out["items"] = map[string]any{} // some providers want them said
	}
}

// validMember matches the names of members that every provider accepts.
var validMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`) })

// rename gives the members at the root names that every provider accepts, and
// returns their own ones.
func rename(root map[string]any) map[string]string {
	members, _ := root["properties"].(map[string]any)
	renamed := map[string]string{}
	for _, own := range slices.Sorted(maps.Keys(members)) {
		if validMember().MatchString(own) {
			continue
		}
		base := strings.Map(func(r rune) rune {
			if validMember().MatchString(string(r)) {
				return r
			}
			return '_'
		}, own[:min(len(own), 8*maxMember)])
		base = base[:min(len(base), maxMember-4)]
		name := base
		for n := 2; name == "" || members[name] != nil; n++ {
			name = base + "_" + strconv.Itoa(n)
		}
		members[name] = members[own]
		delete(members, own)
		renamed[name] = own
		if required, ok := root["required"].([]string); ok {
			for i := range required {
				if required[i] == own {
					required[i] = name
				}
			}
		}
	}
	if len(renamed) == 0 {
		return nil
	}
	return renamed
}
