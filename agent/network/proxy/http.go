package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"atelier.dev/atelier/agent/network"
)

// answerHTTP answers a request of HTTP. A connection has one request: the answer
// to a plain one ends with the connection.
func (c *client) answerHTTP(ctx context.Context) {
	limit := &io.LimitedReader{R: c.in, N: mostHeader}
	line, request, in, err := readRequest(limit)
	target, wrong := line.target()
	var refusal *network.Refusal
	switch refused := errors.As(wrong, &refusal); {
	case err == nil && !c.proxy.permits(basicAuth(request)):
		c.say(http.StatusProxyAuthRequired, "This proxy is for another program.")
		return
	case err != nil && (!refused || c.proxy.secret != ""):
		c.say(http.StatusBadRequest, "The request cannot be read.")
		return
	case wrong != nil && !refused:
		c.say(http.StatusBadRequest, "Only requests for http addresses are forwarded.")
		return
	}
	upstream, err := c.reach(ctx, target, wrong)
	if err != nil {
		c.sayWhy(err)
		return
	}
	limit.N = 1<<63 - 1
	c.in = in
	if line.method == http.MethodConnect {
		if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
			_ = upstream.Close()
			return
		}
		c.relay(ctx, upstream, nil)
		return
	}
	c.forward(ctx, upstream, request, target)
}

var (
	errNoLine = errors.New("no request line")
	errScheme = errors.New("not an http address")
)

// requestLine is the first line of a request.
type requestLine struct{ method, uri string }

// readRequest reads a request's header. The line is read apart from the rest,
// because package net/http parses the host in it in its own way. The body is
// read from in.
func readRequest(from io.Reader) (line requestLine, r *http.Request, in *bufio.Reader, err error) {
	in = bufio.NewReader(from)
	text, err := in.ReadString('\n')
	if err != nil {
		return line, nil, nil, errNoLine
	}
	parts := strings.Split(strings.TrimRight(text, "\r\n"), " ")
	if len(parts) != 3 {
		return line, nil, nil, errNoLine
	}
	line = requestLine{method: parts[0], uri: parts[1]}
	in = bufio.NewReader(io.MultiReader(bytes.NewReader([]byte(text)), in))
	r, err = http.ReadRequest(in)
	if err == nil && (r.Method != line.method || r.RequestURI != line.uri) {
		err = errNoLine
	}
	return line, r, in, err
}

// target returns where a request wants to go.
func (l requestLine) target() (network.Target, error) {
	if l.method == http.MethodConnect {
		return network.Parse(l.uri, 0)
	}
	const scheme = "http://"
	if len(l.uri) < len(scheme) || !strings.EqualFold(l.uri[:len(scheme)], scheme) {
		return network.Target{}, errScheme
	}
	host := l.uri[len(scheme):]
	if end := strings.IndexAny(host, "/?#"); end >= 0 {
		host = host[:end]
	}
	return network.Parse(host, 80)
}

// forward sends a plain request on and passes the answer back.
func (c *client) forward(ctx context.Context, upstream net.Conn, r *http.Request, t network.Target) {
	out := &http.Request{
		Method: r.Method, Host: strings.TrimSuffix(t.String(), ":80"), Close: true,
		URL:    &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery},
		Header: r.Header, Body: r.Body, ContentLength: r.ContentLength, TransferEncoding: r.TransferEncoding,
	}
	for _, list := range r.Header.Values("Connection") {
		for name := range strings.SplitSeq(list, ",") {
			out.Header.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range []string{"Connection", "Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate", "Keep-Alive", "Te", "Trailer", "Upgrade"} {
		out.Header.Del(name)
	}
	if out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", "") // or package net/http would write its own
	}
	c.relay(ctx, upstream, out.Write)
}

func basicAuth(r *http.Request) (user, password string) {
	asked := &http.Request{Header: http.Header{"Authorization": r.Header.Values("Proxy-Authorization")}}
	user, password, _ = asked.BasicAuth()
	return user, password
}

// sayWhy answers that a host was refused or not reached.
func (c *client) sayWhy(err error) {
	var refusal *network.Refusal
	if errors.As(err, &refusal) {
		// Many programs show nothing of a refusal but the words of its status.
		c.answerWith("403 Forbidden: "+refusal.Error(), "", "The sandbox's proxy refused this request: "+refusal.Error()+".")
		return
	}
	c.say(http.StatusBadGateway, "The sandbox's proxy failed: "+err.Error()+".")
}

// say answers with a status and a sentence.
func (c *client) say(status int, sentence string) {
	challenge := ""
	if status == http.StatusProxyAuthRequired {
		challenge = "Proxy-Authenticate: Basic realm=\"sandbox\"\r\n"
	}
	c.answerWith(fmt.Sprintf("%d %s", status, http.StatusText(status)), challenge, sentence)
}

// answerWith answers with the words of a status, more fields of the header, and a
// sentence.
func (c *client) answerWith(status, fields, sentence string) {
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %s\r\n%sContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s\n",
		status, fields, len(sentence)+1, sentence)
	c.linger()
}
