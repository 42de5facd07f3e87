// Package instance keeps one Atelier per project folder. The process that holds
// a folder's lock is its instance, and every later start talks to it through a
// socket that only the same user can reach.
package instance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// ErrHeld says that another process has the folder; [Ask] reaches it.
var ErrHeld = errors.New("the folder is already open in Atelier")

// ErrNotRunning says that no process listens for requests about the folder.
var ErrNotRunning = errors.New("the folder is not open in Atelier")

// exchange limits one question and its answer on an open connection.
const exchange = 3 * time.Second

// retry is how often another process is tried that does not answer yet.
const retry = 20 * time.Millisecond

// Request is a later start's request to the instance.
type Request struct {
	Do Action `json:"do"`
	// Session is what Stop stops.
	Session string `json:"session,omitempty"`
}

// StopWith answers a request to stop a session by calling a method of the application.
func (r Request) StopWith(call func(method, args string) string) Reply {
	args, err := json.Marshal(map[string]string{"session": r.Session})
	if err != nil {
		return Reply{Error: err.Error()}
	}
	call("conversation.interrupt", string(args))
	return Reply{}
}

// Action is the action of a [Request].
type Action string

// The actions.
const (
	Focus Action = "focus" // bring the window to the front
	URL   Action = "url"   // return the address for a browser
	Stop  Action = "stop"  // stop a session
)

// Reply is the instance's answer. An empty Error means that the request
// succeeded.
type Reply struct {
	// URL is the address for a browser; empty if the instance is a window.
	URL string `json:"url,omitempty"`
	// Error is a sentence for the person who started the later one.
	Error string `json:"error,omitempty"`
}

// Instance is the right to a folder. It ends with Close or with the process,
// also if that is killed, because the kernel releases the lock.
type Instance struct {
	lock     *flock.Flock
	listener net.Listener
	serving  sync.WaitGroup
}

// Acquire makes this process the instance of folder under home, or returns
// [ErrHeld]. Requests that arrive before [Instance.Serve] wait.
func Acquire(home, folder string) (*Instance, error) {
	at, err := locate(home, folder)
	if err != nil {
		return nil, err
	}
	lock := flock.New(at.lock, flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", folder, err)
	}
	if !held {
		return nil, ErrHeld
	}
	// The lock is ours, so a process that died left this socket.
	if err := os.Remove(at.socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("remove stale socket: %w", err), lock.Unlock())
	}
	listener, err := net.Listen("unix", at.socket)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen for later starts: %w", err), lock.Unlock())
	}
	return &Instance{lock: lock, listener: listener}, nil
}

// Enter makes this process the instance of folder under home, or asks the process
// that is: it returns an instance or a reply. Until ctx ends, it tries again while
// another process is about to listen, or ends.
func Enter(ctx context.Context, home, folder string, req Request) (*Instance, Reply, error) {
	again := time.NewTicker(retry)
	defer again.Stop()
	for {
		inst, err := Acquire(home, folder)
		if !errors.Is(err, ErrHeld) {
			return inst, Reply{}, err
		}
		reply, err := AskRunning(ctx, home, folder, req)
		if err == nil {
			return nil, reply, nil
		}
		select {
		case <-ctx.Done():
			return nil, Reply{}, fmt.Errorf("reach the Atelier that has %s open: %w", folder, err)
		case <-again.C:
		}
	}
}

// Serve answers requests, one at a time, in a goroutine that ends with
// [Instance.Close]. Call it once.
func (i *Instance) Serve(answer func(Request) Reply) {
	i.serving.Go(func() {
		for {
			switch conn, err := i.listener.Accept(); {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil:
				time.Sleep(retry) // such as until this process has fewer files open
			default:
				serve(conn, answer)
			}
		}
	})
}

// serve answers one request. A caller of another user, or with a slow or
// invalid request, gets no answer.
func serve(conn net.Conn, answer func(Request) Reply) {
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(exchange)) != nil || !sameUser(conn) {
		return
	}
	var req Request
	if json.NewDecoder(io.LimitReader(conn, 4096)).Decode(&req) == nil {
		_ = json.NewEncoder(conn).Encode(answer(req)) // the caller may have left
	}
}

// Close releases the folder.
func (i *Instance) Close() error {
	err := i.listener.Close()
	i.serving.Wait()
	return errors.Join(err, i.lock.Unlock())
}

// Ask sends a request to the instance of folder under home. Until ctx ends, it
// waits for an instance that has the lock but does not listen yet.
func Ask(ctx context.Context, home, folder string, req Request) (Reply, error) {
	at, err := locate(home, folder)
	if err != nil {
		return Reply{}, err
	}
	conn, err := dial(ctx, at.socket)
	if err != nil {
		return Reply{}, fmt.Errorf("reach the Atelier that has %s open: %w", folder, err)
	}
	return exchangeOn(ctx, conn, folder, req)
}

// AskRunning is [Ask] for an instance that listens already. If there is none, it
// returns [ErrNotRunning] at once.
func AskRunning(ctx context.Context, home, folder string, req Request) (Reply, error) {
	at, err := locate(home, folder)
	if err != nil {
		return Reply{}, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", at.socket)
	if err != nil {
		return Reply{}, fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	return exchangeOn(ctx, conn, folder, req)
}

// exchangeOn sends a request and reads the answer, then closes the connection.
func exchangeOn(ctx context.Context, conn net.Conn, folder string, req Request) (Reply, error) {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()

	if err := json.NewEncoder(conn).Encode(req); err != nil {
		return Reply{}, fmt.Errorf("ask the Atelier that has %s open: %w", folder, err)
	}
	var reply Reply
	if err := json.NewDecoder(conn).Decode(&reply); err != nil {
		return Reply{}, fmt.Errorf("hear from the Atelier that has %s open: %w", folder, err)
	}
	return reply, nil
}

// dial retries until ctx ends, because the instance needs a moment between
// taking the lock and listening.
func dial(ctx context.Context, socket string) (net.Conn, error) {
	var dialer net.Dialer
	again := time.NewTicker(retry)
	defer again.Stop()
	for {
		conn, err := dialer.DialContext(ctx, "unix", socket)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-again.C:
		}
	}
}
