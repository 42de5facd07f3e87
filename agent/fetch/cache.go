package fetch

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// The limits of kept pages.
const (
	keptFor   = 15 * time.Minute
	keptPages = 50
	keptBytes = 20 << 20
)

// Pages keeps pages for 15 minutes. It is safe for concurrent use. Nil keeps none.
type Pages struct {
	now   func() time.Time
	mu    sync.Mutex
	pages []kept // the oldest first
	size  int
}

type kept struct {
	key  string
	at   time.Time
	page page
}

// NewPages returns an empty store. Now is the clock.
func NewPages(now func() time.Time) *Pages { return &Pages{now: now} }

func keyOf(at address, headers map[string]string) string {
	key := []string{at.String()}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		key = append(key, strings.ToLower(name), headers[name])
	}
	return strings.Join(key, "\n")
}

func (p *Pages) get(at address, headers map[string]string) (page, bool) {
	if p == nil {
		return page{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop()
	key := keyOf(at, headers)
	for _, k := range p.pages {
		if k.key == key {
			return k.page, true
		}
	}
	return page{}, false
}

// put keeps a page that was fetched; not one that failed or leads elsewhere.
func (p *Pages) put(at address, headers map[string]string, fetched page) {
	if p == nil || fetched.status != 200 || fetched.cut == cutBroken || len(fetched.text) > keptBytes {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := keyOf(at, headers)
	p.remove(slices.IndexFunc(p.pages, func(k kept) bool { return k.key == key }))
	p.pages = append(p.pages, kept{key, p.now(), fetched})
	p.size += len(fetched.text)
	p.drop()
}

// drop removes what is too old or too much.
func (p *Pages) drop() {
	for len(p.pages) > 0 && (p.now().Sub(p.pages[0].at) >= keptFor || len(p.pages) > keptPages || p.size > keptBytes) {
		p.remove(0)
	}
}

func (p *Pages) remove(at int) {
	if at >= 0 {
		p.size -= len(p.pages[at].page.text)
		p.pages = slices.Delete(p.pages, at, at+1)
	}
}
