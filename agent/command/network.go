package command

import (
	"net"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"mvdan.cc/sh/v3/syntax"
)

// hostOf returns the host of an address, or an empty string.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Hostname()
	}
	if at := strings.LastIndex(address, "@"); at >= 0 {
		address = address[at+1:]
	} else if !strings.Contains(address, ":") && !strings.Contains(address, ".") && address != "localhost" {
		return ""
	}
	host, _, _ := strings.Cut(address, "/")
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	host, _, _ = strings.Cut(host, ":")
	return host
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// host notes that a host is talked to.
func (w *walker) host(host string) {
	if isLoopback(host) {
		w.add(agent.EffectLoopback, host)
		return
	}
	w.add(agent.EffectNetwork, host)
}

// transfers looks at curl and wget.
func transfers(w *walker, program string, args []value, s *scope) {
	values := "oXdHFTuAebxKmrDzwCcEtY"
	if program == "wget" {
		values = "OPoUtTQweia"
	}
	rest, options := operands(args, values)
	if v, ok := options["url"]; ok {
		rest = append(rest, v)
	}
	var hosts []string
	for _, address := range rest {
		host := hostOf(address.text())
		if !address.exact() && (host == "" || strings.ContainsAny(host, "$(")) {
			host = address.text()
		}
		hosts = append(hosts, host)
	}
	elsewhere := []string{"x", "proxy", "preproxy", "socks5", "socks5-hostname", "K", "config", "resolve", "connect-to", "unix-socket", "abstract-unix-socket", "doh-url"}
	if program == "wget" {
		elsewhere = []string{"i", "input-file", "e", "execute", "use-askpass", "config"}
	}
	if len(hosts) == 0 || has(options, elsewhere...) {
		hosts = append(hosts, "")
	}
	if program == "wget" && has(options, "e", "execute", "use-askpass", "config") {
		w.add(agent.EffectUnknown, program)
	}
	data := has(options, "d", "data", "data-binary", "data-raw", "data-urlencode", "json", "F", "form", "T", "upload-file", "post-data", "post-file", "body-data", "body-file")
	method := strings.ToUpper(options["X"].text() + options["request"].text() + options["method"].text())
	sends := data || slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, method)
	for _, host := range hosts {
		w.host(host)
		if sends && !isLoopback(host) {
			w.add(agent.EffectSends, host)
		}
	}
	for _, name := range []string{"d", "data", "data-binary", "data-urlencode", "json", "F", "form", "T", "upload-file", "post-file", "body-file", "K", "config"} {
		w.uploads(name, options[name], s)
	}
	if program == "curl" {
		for _, name := range []string{"H", "header", "b", "cookie", "url-query", "variable"} {
			w.uploads(name, options[name], s)
		}
		for _, name := range []string{"D", "dump-header", "c", "cookie-jar", "trace", "trace-ascii", "stderr", "libcurl", "hsts", "alt-svc", "etag-save"} {
			w.writes(options[name], s)
		}
		for _, address := range rest {
			if text := address.text(); strings.HasPrefix(strings.ToLower(text), "file://") {
				w.reads(value{{text: text[len("file://"):], exact: address.exact()}}, s)
			}
		}
	}
	w.downloads(program, rest, options, s)
	if slices.ContainsFunc(args, func(v value) bool {
		return !v.exact() && !strings.Contains(v.text(), "/") && !strings.Contains(v.text(), " ")
	}) {
		w.add(agent.EffectUnknown, program)
	}
}

// uploads notes the file that an option sends: FILE, @FILE or name=@FILE.
func (w *walker) uploads(option string, v value, s *scope) {
	for _, p := range v {
		text := p.text
		if text == "" {
			continue
		}
		if !slices.Contains([]string{"T", "upload-file", "post-file", "body-file", "K", "config"}, option) {
			at := strings.IndexAny(text, "@<")
			if at < 0 || at > 0 && text[at-1] != '=' && (option != "data-urlencode" && option != "url-query" && option != "variable") {
				continue
			}
			text, _, _ = strings.Cut(text[at+1:], ";")
		}
		w.reads(value{{text: text, exact: p.exact, glob: p.glob}}, s)
	}
}

// downloads notes the files that a download is written to.
func (w *walker) downloads(program string, addresses []value, options map[string]value, s *scope) {
	var files []value
	named, dir := options["o"], options["output-dir"]
	if v, ok := options["output"]; ok {
		named = v
	}
	remote := has(options, "O", "remote-name", "remote-name-all")
	if program == "wget" {
		named, dir, remote = options["O"], options["P"], true
		if v, ok := options["output-document"]; ok {
			named = v
		}
	}
	if has(options, "spider") {
		return
	}
	switch {
	case named.text() != "":
		for _, p := range named {
			files = append(files, value{p})
		}
	case remote:
		for _, address := range addresses {
			name := path.Base(strings.SplitN(address.text(), "?", 2)[0])
			if dir.text() != "" {
				name = path.Join(dir.text(), name)
			}
			files = append(files, value{{text: name, exact: address.exact()}})
		}
	}
	for _, file := range files {
		w.writes(file, s)
		if file.exact() && file.text() != "-" {
			w.fetched = append(w.fetched, w.paths(file[0], s)...)
		}
	}
}

// reaches looks at other programs of the network.
func (w *walker) reaches(program string, args []value, s *scope) {
	rest, _ := operands(args, "ipPlFoecsLRDJbmqSw")
	var host string
	for _, arg := range rest {
		if host = hostOf(arg.text()); host != "" {
			break
		}
	}
	switch {
	case host == "" && slices.Contains([]string{"ssh", "ping", "dig", "nslookup", "host", "telnet", "nc", "ncat", "ftp", "whois"}, program) && len(rest) > 0:
		host = rest[0].text()
	case host == "":
		host = spoken(program, args)
	}
	w.host(host)
	if program == "ssh" || program == "mosh" {
		w.remote(rest, args, s)
	}
	if slices.Contains([]string{"nc", "ncat", "socat"}, program) {
		w.add(agent.EffectSends, host)
		for _, arg := range args {
			if text := arg.text(); text == "-e" || text == "-c" || strings.Contains(strings.ToUpper(text), "EXEC:") || strings.Contains(strings.ToUpper(text), "SYSTEM:") {
				w.add(agent.EffectNetCode, program)
			}
		}
	}
}

// remote looks at what ssh runs on another computer, of which only what is
// dangerous anywhere can be told.
func (w *walker) remote(rest, args []value, s *scope) {
	if len(rest) < 2 {
		return
	}
	at := slices.IndexFunc(args, func(v value) bool { return v.text() == rest[0].text() })
	command := args[at+1:]
	w.add(agent.EffectUnknown, join(command))
	aside := &walker{at: w.at, steps: w.steps}
	inside := s.inner()
	inside.depth++
	aside.code(value{{text: join(command), exact: exact(command)}}, "ssh", inside)
	for _, e := range aside.effects {
		if agent.OutlookOf(e).Risk == agent.RiskDangerous {
			w.effects = append(w.effects, e)
		}
	}
}

// moves looks at scp and rsync, which work here or over the network.
func moves(w *walker, program string, args []value, s *scope) {
	rest, options := operands(args, "iPFoecSlBJM")
	if has(options, "e", "rsh", "rsync-path", "o", "S") {
		w.add(agent.EffectUnknown, program)
	}
	far := func(v value) bool {
		before, _, ok := strings.Cut(v.text(), ":")
		return ok && !strings.Contains(before, "/")
	}
	for i, arg := range rest {
		last := i == len(rest)-1
		switch {
		case far(arg):
			w.host(hostOf(strings.SplitN(arg.text(), ":", 2)[0] + ":"))
			if last {
				w.add(agent.EffectSends, hostOf(strings.SplitN(arg.text(), ":", 2)[0]+":"))
			}
		case last:
			w.writes(arg, s)
			if has(options, "delete", "delete-after", "delete-before", "delete-excluded", "del") {
				w.deletes([]value{arg}, true, s)
			}
		default:
			w.reads(arg, s)
			if has(options, "remove-source-files") {
				w.deletes([]value{arg}, true, s)
			}
		}
	}
	if len(rest) == 0 {
		w.add(agent.EffectUnknown, program)
	}
}

// fetches reports whether a part of a line takes something from the network.
func (w *walker) fetches(n syntax.Node, s *scope) bool {
	found := false
	if n == nil || n == syntax.Command(nil) {
		return false
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		for _, arg := range w.quietly(call.Args, s) {
			name := filepath.Base(arg.text())
			found = found || row(name).is(downloads) || arg.fetched()
		}
		return true
	})
	return found
}
