package compat

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// Model servers that people run themselves load a model with a window of their
// own choice, often far below the model's, and some cut what is longer without
// a word. None says so in the API that all share (OAS-709); each has a question
// of its own.

const (
	// windowPatience limits all questions about windows together.
	windowPatience = 2 * time.Second
	// maxShown limits the models that Ollama is asked about one by one, and
	// shownAtOnce how many at a time.
	maxShown    = 64
	shownAtOnce = 4
	mostWindow  = 1_000_000_000 // tokens; more cannot be true
)

// window is a model's window as its server says; 0 means unknown.
type window struct{ serves, most int64 }

// windows are the questions, by preset. Each returns the windows of models that
// it learned of, by id.
var windows = map[string]func(context.Context, *wire.Endpoint, []llm.ListedModel) map[string]window{
	"ollama": ofOllama, "llamacpp": ofLlamaCpp, "lmstudio": ofLMStudio, "": ofKoboldCpp,
}

// measure completes the models of a server with their windows. One that is not
// a preset is asked every question, unless its list has the answer. A server
// that does not answer leaves the models as they are.
func measure(ctx context.Context, preset string, e *wire.Endpoint, models []llm.ListedModel) {
	ctx, cancel := context.WithTimeout(ctx, windowPatience)
	defer cancel()
	asks := windows
	if ask, ok := windows[preset]; ok {
		asks = map[string]func(context.Context, *wire.Endpoint, []llm.ListedModel) map[string]window{preset: ask}
	} else if len(models) > 0 && models[0].Serves > 0 {
		return
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	learned := map[string]window{}
	for _, ask := range asks {
		wg.Go(func() {
			said := ask(ctx, e, models)
			mu.Lock()
			defer mu.Unlock()
			for id, w := range said {
				known := learned[id]
				learned[id] = window{cmp.Or(known.serves, plausible(w.serves)), cmp.Or(known.most, plausible(w.most))}
			}
		})
	}
	wg.Wait()
	for i, m := range models {
		w := learned[m.ID]
		models[i].Serves, models[i].Window = cmp.Or(w.serves, m.Serves), cmp.Or(m.Window, w.most)
	}
}

// plausible returns a window, or 0 for a number that cannot be one.
func plausible(tokens int64) int64 {
	if tokens < 0 || tokens > mostWindow {
		return 0
	}
	return tokens
}

// ofOllama asks which models are loaded, and with which window. One that is not
// has the window of its Modelfile, or else one that only loading it shows.
func ofOllama(ctx context.Context, e *wire.Endpoint, models []llm.ListedModel) map[string]window {
	var loaded struct {
		Models []struct {
			Name   string `json:"name"`
			Window int64  `json:"context_length"`
		} `json:"models"`
	}
	if !e.Look(ctx, "api/ps", nil, &loaded) {
		return nil
	}
	found := map[string]window{}
	for _, m := range loaded.Models {
		found[m.Name] = window{serves: m.Window}
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	slots := make(chan struct{}, shownAtOnce)
	for _, m := range models[:min(len(models), maxShown)] {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			set, most := shownByOllama(ctx, e, m.ID)
			mu.Lock()
			defer mu.Unlock()
			found[m.ID] = window{cmp.Or(found[m.ID].serves, set), most}
		})
	}
	wg.Wait()
	return found
}

// shownByOllama returns the window that a Modelfile sets and the model's own.
func shownByOllama(ctx context.Context, e *wire.Endpoint, id string) (set, most int64) {
	var about struct {
		Info       map[string]json.RawMessage `json:"model_info"`
		Parameters string                     `json:"parameters"` // a name and a value on each line
	}
	if !e.Look(ctx, "api/show", map[string]string{"model": id}, &about) {
		return 0, 0
	}
	for name, value := range about.Info {
		if strings.HasSuffix(name, ".context_length") {
			most, _ = strconv.ParseInt(string(value), 10, 64) // 0 means unknown
		}
	}
	for lines := bufio.NewScanner(strings.NewReader(about.Parameters)); lines.Scan(); {
		if f := strings.Fields(lines.Text()); len(f) == 2 && f[0] == "num_ctx" {
			set, _ = strconv.ParseInt(f[1], 10, 64) // 0 means unknown
		}
	}
	return set, most
}

// ofLlamaCpp asks for the window of one conversation: the server divides what it
// was started with among its slots.
func ofLlamaCpp(ctx context.Context, e *wire.Endpoint, models []llm.ListedModel) map[string]window {
	var props struct {
		Defaults struct {
			Window int64 `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Alias string `json:"model_alias"`
		Path  string `json:"model_path"`
	}
	if !e.Look(ctx, "props", nil, &props) || props.Defaults.Window == 0 {
		return nil
	}
	found := map[string]window{}
	for _, m := range models {
		if len(models) == 1 || m.ID == props.Alias || m.ID == props.Path || m.ID == path.Base(props.Path) {
			found[m.ID] = window{serves: props.Defaults.Window}
		}
	}
	return found
}

// ofLMStudio asks for all models that are there, and the windows of those that
// are loaded.
func ofLMStudio(ctx context.Context, e *wire.Endpoint, _ []llm.ListedModel) map[string]window {
	var list struct {
		Data []struct {
			ID     string `json:"id"`
			Most   int64  `json:"max_context_length"`
			Loaded int64  `json:"loaded_context_length"`
		} `json:"data"`
	}
	if !e.Look(ctx, "api/v0/models", nil, &list) {
		return nil
	}
	found := map[string]window{}
	for _, m := range list.Data {
		found[m.ID] = window{serves: m.Loaded, most: m.Most}
	}
	return found
}

// ofKoboldCpp asks for the window of the one model that it runs.
func ofKoboldCpp(ctx context.Context, e *wire.Endpoint, models []llm.ListedModel) map[string]window {
	var answer struct {
		Value int64 `json:"value"`
	}
	if len(models) != 1 || !e.Look(ctx, "api/extra/true_max_context_length", nil, &answer) {
		return nil
	}
	return map[string]window{models[0].ID: {serves: answer.Value}}
}
