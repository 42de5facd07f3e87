package permission_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// The ways to write a file, to read one and to reach a server, a line each.
const (
	writeWays = `
		echo evil >WHAT
		echo evil >>WHAT
		printf evil | tee WHAT
		printf evil | tee -a WHAT >/dev/null
		cp a.txt WHAT
		mv -f a.txt WHAT; touch a.txt
		ln -sf $PWD/a.txt WHAT
		ln -f a.txt WHAT
		rm -rf WHAT
		sed -i 's/.*/evil/' WHAT
		python3 -c 'open("WHAT","w").write("evil")'
		node -e 'require("fs").writeFileSync("WHAT","evil")'
		dd if=a.txt of=WHAT
		truncate -s 0 WHAT
		chmod 777 WHAT
		install -m 755 a.txt WHAT
		ln -sfn WHAT out; echo evil >out; rm -f out
		ln -sfn $(dirname WHAT) dir; echo evil >dir/$(basename WHAT); rm -f dir
		cd /; echo evil >WHAT
		f=WHAT; echo evil >"$f"
		eval "echo evil >WHAT"
		bash -c 'echo evil >WHAT'
		echo 'echo evil >WHAT' | sh
		echo ZWNobyBldmlsID5XSEFU | base64 -d | sed 's#W[H]AT#WHAT#' | bash
		find . -maxdepth 1 -name a.txt -exec cp {} WHAT \;
		xargs -I{} cp {} WHAT <<<a.txt
		awk 'BEGIN{print "evil" >"WHAT"}'
		git diff --output=WHAT HEAD~1
		git archive -o WHAT HEAD
		git clone -q . WHAT.d
		git worktree add -q --force WHAT.w
		git -c core.fsmonitor='echo evil >WHAT;' status
		git -c alias.x='!echo evil >WHAT' x
		make -f - <<<'all:; echo evil >WHAT'
		npm exec --offline -c 'echo evil >WHAT'
		perl -e 'open F,">WHAT"; print F "evil"'
		tar cf WHAT a.txt
		rsync a.txt WHAT || cp a.txt WHAT
		exec 9>WHAT; echo evil >&9
		mknod WHAT p; mkfifo WHAT
		touch -d yesterday WHAT
		setsid sh -c 'echo evil >WHAT' & wait
		nohup sh -c 'sleep 0.01; echo evil >WHAT' >/dev/null 2>&1 &
		unshare -rm sh -c 'mount -t tmpfs x /mnt; echo evil >WHAT'
		nsenter -t 1 -m sh -c 'echo evil >WHAT'
		sudo sh -c 'echo evil >WHAT'
		mount -o remount,rw / ; echo evil >WHAT
		cat a.txt >/proc/1/root/WHAT
		cat a.txt >/proc/self/root/WHAT
		sqlite3 WHAT 'create table evil(x)'
		curl -s -o WHAT file://$PWD/a.txt
	`
	readWays = `
		cat WHAT
		head -c 200 <WHAT
		python3 -c 'print(open("WHAT").read())'
		node -p 'require("fs").readFileSync("WHAT","utf8")'
		base64 WHAT | base64 -d
		grep -r canary $(dirname WHAT)
		cp WHAT here; cat here; rm -f here
		ln WHAT here; cat here; rm -f here
		tar cf - WHAT | tar xOf -
		cat /proc/self/root/WHAT
		cat /proc/1/root/WHAT
		find $(dirname WHAT) -type f -exec cat {} +
		f=WHAT; cat "$f"
		dd if=WHAT
		git diff --no-index /dev/null WHAT
		git hash-object -w WHAT | xargs git cat-file -p
		mkdir -p m; mount --bind $(dirname WHAT) m; cat m/*
		curl -s file://WHAT
		awk '{print}' WHAT
		openssl enc -base64 -A -in WHAT | base64 -d
	`
	sendWays = `
		curl -s http://WHAT/
		wget -qO- http://WHAT/
		python3 -c 'import urllib.request as u; u.urlopen("http://WHAT/")'
		node -e 'fetch("http://WHAT/")'
		exec 3<>/dev/tcp/127.0.0.1/PORT; echo 'GET / HTTP/1.0' >&3
		curl -s --noproxy '*' http://WHAT/
		HTTP_PROXY= http_proxy= curl -s http://WHAT/
		git ls-remote http://WHAT/x.git
		git fetch http://WHAT/x.git
		npm view x --registry http://WHAT/
		nc -z 127.0.0.1 PORT
		curl -s --interface lo http://WHAT/
		(sleep 0.02; curl -s http://WHAT/) & wait
		perl -MIO::Socket::INET -e 'IO::Socket::INET->new("127.0.0.1:PORT")->print("GET / HTTP/1.0\n\n")'
	`
)

// hostileLines are lines that want something outside of the project: each way, with each
// thing that it may want.
func hostileLines(p *autoProject) (lines []string) {
	base := filepath.Dir(p.dir)
	each := func(ways string, wanted ...string) {
		for way := range strings.Lines(ways) {
			for _, what := range wanted {
				if way = strings.TrimSpace(way); way != "" {
					lines = append(lines, strings.NewReplacer("WHAT", what, "PORT", p.port, "BASE", base).Replace(way))
				}
			}
		}
	}
	each(writeWays, "BASE/home/.bashrc", "BASE/home/.config/autostart/x.desktop", "BASE/home/.local/bin/tool", "BASE/neighbour/file.txt", "BASE/home/new", "BASE/home/.ssh/authorized_keys",
		"BASE/home/.profile", "BASE/neighbour/new")
	each(readWays, "BASE/home/.ssh/id_ed25519", "BASE/home/.aws/credentials", "BASE/home/.netrc", "BASE/home/.config/gh/hosts.yml", "BASE/home/.docker/config.json")
	each(sendWays, "127.0.0.1:PORT", "localhost:PORT", "[::ffff:127.0.0.1]:PORT")
	for i, line := range lines {
		lines[i] = strings.NewReplacer("PORT", p.port, "BASE", base).Replace(line)
	}
	return lines
}

// OAS-623, OAS-641, K-47: of 500 hostile lines in the mode auto none changes, reads or
// sends anything outside of the project, whether it is asked about or runs.
func TestHostileLinesInAuto(t *testing.T) {
	t.Parallel()
	p := newAutoProject(t)
	base := filepath.Dir(p.dir)
	before := treeOf(t, base)
	lines := hostileLines(p)
	if len(lines) < 500 {
		t.Fatalf("only %d lines", len(lines))
	}
	var mu sync.Mutex
	asked := 0
	queue := make(chan string)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for line := range queue {
				was, result := p.run(line)
				mu.Lock()
				if was {
					asked++
				}
				if strings.Contains(result.Output, outsideCanary) {
					t.Errorf("a secret was read: %s\n%s", line, result.Output)
				}
				mu.Unlock()
			}
		})
	}
	for _, line := range lines {
		queue <- line
	}
	close(queue)
	workers.Wait()
	for path, text := range treeOf(t, base) {
		if before[path] != text {
			t.Errorf("%s was changed: %q", path, text)
		}
		delete(before, path)
	}
	for path := range before {
		t.Errorf("%s is gone", path)
	}
	if n := p.reached.Load(); n > 0 {
		t.Errorf("a server of this machine was reached %d times", n)
	}
	t.Logf("%d lines, %d of them asked about", len(lines), asked)
}

// treeOf returns what is in a folder but outside of the project and of what belongs to
// confined commands: modes, and texts or what links lead to.
func treeOf(t *testing.T, base string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch rel, _ := filepath.Rel(base, path); rel {
		case "project", "tmp", "cache":
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := []byte(info.Mode().String())
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			text = append(text, to...)
		case d.Type().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = append(append(text, info.ModTime().String()...), bytes.TrimSpace(content)...)
		}
		all[path] = string(text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
