package serve

import "sync"

const (
	// maxKept limits the calls with a key whose replies are kept, the newest of
	// all pages. A page repeats a call within seconds.
	maxKept = 256
	// maxKeptReply limits a reply that is kept, in bytes. Those of calls with a
	// key are short.
	maxKeptReply = 64 << 10
	// tooLong replaces a longer reply.
	tooLong = `{"error":{"code":"internal","message":"It was done, but the reply was lost with the connection."}}`
)

// once runs each call with a key only once, however often a page sends it.
// Its zero value is ready.
type once struct {
	mu    sync.Mutex
	calls map[string]*keyed
	keys  []string // the oldest first
}

// keyed is a call with a key. Its reply may be read once done is closed.
type keyed struct {
	done  chan struct{}
	reply string
}

// reply returns what run returns. If run was already called for the key, it
// waits for that call and returns its reply. An empty key is never known.
func (o *once) reply(key string, run func() string) string {
	if key == "" {
		return run()
	}
	o.mu.Lock()
	before := o.calls[key]
	call := &keyed{done: make(chan struct{})}
	if before == nil {
		o.keep(key, call)
	}
	o.mu.Unlock()
	if before != nil {
		<-before.done
		return before.reply
	}
	defer close(call.done)
	reply := run()
	if call.reply = reply; len(reply) > maxKeptReply {
		call.reply = tooLong
	}
	return reply
}

// keep adds a call, in the place of the oldest if there are too many.
func (o *once) keep(key string, call *keyed) {
	if o.calls == nil {
		o.calls = map[string]*keyed{}
	}
	o.calls[key] = call
	if o.keys = append(o.keys, key); len(o.keys) > maxKept {
		delete(o.calls, o.keys[0])
		o.keys = o.keys[1:]
	}
}
