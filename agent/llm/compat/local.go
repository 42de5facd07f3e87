package compat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
)

const (
	// localPatience limits the answer of a server on this machine. A missing
	// server fails at once.
	localPatience = 400 * time.Millisecond
	maxLocalReply = 1 << 20
	maxModelID    = 256
)

// Running asks a local preset's own address for its models. Anything may listen
// at that port, so it is sent only the question, and no key. An answer that is
// not exactly a list of models is an error.
func (p Preset) Running(ctx context.Context) ([]string, error) {
	if !p.Local {
		return nil, fmt.Errorf("%s is not on this machine", p.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, localPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.BaseURL+"/models", nil)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := loopback().Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", p.Name, err)
	}
	defer resp.Body.Close()
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s is not what answers at its address", p.Name)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxLocalReply+1))
	if err != nil {
		return nil, fmt.Errorf("read the models of %s: %w", p.Name, err)
	}
	ids, err := localModels(body)
	if err != nil {
		return nil, fmt.Errorf("read the models of %s: %w", p.Name, err)
	}
	return ids, nil
}

var errNoList = errors.New("not a list of models")

// localModels reads a list of models, in the server's order. Every entry must
// describe a model.
func localModels(body []byte) ([]string, error) {
	var list struct {
		Object string `json:"object"`
		Data   []struct {
			ID     string `json:"id"`
			Object string `json:"object"`
		} `json:"data"`
	}
	if len(body) > maxLocalReply || json.Unmarshal(body, &list) != nil || list.Object != "list" || len(list.Data) == 0 {
		return nil, errNoList
	}
	ids := make([]string, 0, len(list.Data))
	for _, m := range list.Data {
		odd := strings.ContainsFunc(m.ID, func(r rune) bool { return !unicode.IsPrint(r) })
		if m.Object != "model" || strings.TrimSpace(m.ID) != m.ID || m.ID == "" || len(m.ID) > maxModelID || odd {
			return nil, errNoList
		}
		ids = append(ids, m.ID)
	}
	return ids, nil
}

var errNotLocal = errors.New("the address is not on this machine")

// loopback returns a client that reaches only this machine, regardless of name
// resolution, proxies and redirects.
var loopback = sync.OnceValue(func() *http.Client {
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		host, _, err := net.SplitHostPort(address)
		if err != nil || !net.ParseIP(host).IsLoopback() {
			return errNotLocal
		}
		return nil
	}}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
})
