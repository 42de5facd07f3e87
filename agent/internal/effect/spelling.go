package effect

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// spelling says how a program spells its options.
type spelling struct {
	first  map[string]string   // the first name of an option, by each of its names
	means  map[string][]string // what an option is, if it is not only itself
	values map[string]bool     // they take the next argument
	tails  map[string]bool     // they may have a value, which follows directly
	names  map[string]bool     // their value is the name of another option
	signs  map[string]string   // what an operand with this sign in front of it is as well
	whole  bool                // -name is one option, and no letters
	bare   bool                // the first argument may be letters without "-"
	ends   bool                // after the first operand there are no options
}

// commanded are programs whose first operand is a command.
var commanded = strings.Fields(`git npm pnpm yarn bun go cargo gh glab pip poetry uv bundle gem composer dotnet brew apt apt-get dnf yum snap docker podman
	docker-compose kubectl oc helm terraform tofu pulumi systemctl flutter dart swift rustup aws gcloud az fly flyctl heroku vercel netlify wrangler firebase hg svn jj`)

// spellings are the options of everyday programs and of their commands. The names of
// one option are joined by commas. ":" is behind one that takes a value, "?" behind
// one whose value follows directly, "!" behind one whose value is the name of another
// option, and "=a+b" says that it is these together. An entry of one sign and "~" is an
// operand's. *whole, *bare and *ends are the members of spelling.
var spellings = map[string]string{
	"rm":    "r,R,recursive f,force i I interactive v,verbose d,dir one-file-system preserve-root no-preserve-root",
	"cp":    "r,R,recursive a,archive=a+r f,force i,interactive n,no-clobber u,update v,verbose p l,link s,symbolic-link t:,target-directory T,no-target-directory S:,suffix x b backup",
	"mv":    "f,force i,interactive n,no-clobber u,update v,verbose t:,target-directory T,no-target-directory S:,suffix b backup",
	"ln":    "s,symbolic f,force n,no-dereference i,interactive v,verbose r,relative t:,target-directory T,no-target-directory S:,suffix b backup",
	"chmod": "R,recursive f,silent,quiet v,verbose c,changes reference: preserve-root no-preserve-root",
	"chown": "R,recursive f,silent,quiet v,verbose c,changes h,no-dereference H L P from: reference: preserve-root no-preserve-root",
	"chgrp": "R,recursive f,silent,quiet v,verbose c,changes h,no-dereference H L P reference:",
	"mkdir": "p,parents m:,mode v,verbose", "rmdir": "p,parents v,verbose", "truncate": "s:,size r:,reference c,no-create o,io-blocks",
	"grep": "r,recursive R,dereference-recursive i,ignore-case l,files-with-matches n,line-number e:,regexp f:,file m:,max-count A: B: C: v,invert-match w,word-regexp E,extended-regexp F,fixed-strings P,perl-regexp o,only-matching c,count q,quiet,silent s,no-messages",
	"ls":   "R,recursive a,all A,almost-all r,reverse l t S h,human-readable d,directory", "sed": "i?,in-place n,quiet,silent e:,expression f:,file E,r,regexp-extended s,separate z,null-data",
	"rsync": "a,archive=a+r r,recursive v,verbose z,compress n,dry-run e:,rsh f:,filter exclude: include: u,update P p t o g l b,backup delete,del delete-before=delete delete-after=delete delete-during=delete delete-delay=delete delete-excluded=delete remove-source-files",
	"tar": `*bare x,extract,get c,create t,list r,append u,update A,catenate,concatenate z,gzip,gunzip,ungzip j,bzip2 J,xz v,verbose f:,file C:,directory P,absolute-names k,keep-old-files
		p,preserve-permissions,same-permissions O,to-stdout X:,exclude-from T:,files-from I:,use-compress-program exclude: strip-components: delete remove-files overwrite h,dereference a,auto-compress to-command: checkpoint-action:`,
	"find": "*whole", "terraform": "*whole", "tofu": "*whole", "go": "*whole", "java": "*whole",
	"kill": "*whole 9,KILL,SIGKILL,kill,sigkill 15,TERM,SIGTERM,term 1,HUP,SIGHUP 2,INT,SIGINT s!,signal n!", "pkill": "*whole 9,KILL,SIGKILL 15,TERM,SIGTERM f,full signal!", "killall": "*whole 9,KILL,SIGKILL 15,TERM,SIGTERM s!,signal",
	"curl": `X:,request d:,data,data-ascii F:,form T:,upload-file o:,output O,remote-name L,location k,insecure s,silent S,show-error f,fail H:,header u:,user A:,user-agent b:,cookie c:,cookie-jar
		e:,referer K:,config x:,proxy I,head G,get i,include,show-headers v,verbose w:,write-out m:,max-time C:,continue-at D:,dump-header E:,cert r:,range N,no-buffer n,netrc Q:,quote J,remote-header-name
		R,remote-time a,append g,globoff # data-raw: data-binary: data-urlencode: json: url: connect-timeout: retry: cacert: form-string: proto: resolve: unix-socket:`,
	"wget": `O:,output-document P:,directory-prefix r,recursive q,quiet c,continue N,timestamping i:,input-file e:,execute m,mirror=m+r k,convert-links p,page-requisites n? t:,tries T:,timeout U:,user-agent
		o:,output-file a:,append-output b,background no-check-certificate post-data: post-file: header: method: body-data: body-file:`,
	"bash": "c l,login i e u x s v o: O: rcfile: init-file: posix norc noprofile", "sh": "c l i e u x s v o:", "zsh": "c l,login i e u x s v o:",
	"python": "c: m: W: X: I i u B b d E O q s S v x", "node": "e:,eval p,print r:,require i,interactive c,check import: loader:", "perl": "e: E: n p i? l? a w W F: I: M: m: s S T t U u v x X",
	"ruby": "e: n p i? l a w I: r: s S v x", "ssh": "*ends o: p: i: l: L: R: D: F: J: E: b: c: e: I: m: O: Q: S: W: w: N f T t v q A a X Y C g k K n M 4 6",

	"git":             "C: c: git-dir: work-tree: exec-path: namespace: config-env: p,paginate P,no-pager bare no-replace-objects",
	"git push":        "f,force n,dry-run d,delete u,set-upstream o:,push-option q,quiet v,verbose 4,ipv4 6,ipv6 all,branches mirror=mirror+f tags follow-tags force-with-lease force-if-includes no-verify prune atomic thin no-thin signed receive-pack:,exec repo: progress porcelain recurse-submodules: +~f :~d",
	"git commit":      "n,no-verify a,all m:,message F:,file c:,reedit-message C:,reuse-message t:,template e,edit s,signoff S?,gpg-sign p,patch q,quiet v,verbose z,null i,include o,only u?,untracked-files amend author: date: cleanup: fixup: squash: no-edit allow-empty allow-empty-message dry-run short branch porcelain long no-gpg-sign reset-author trailer: pathspec-from-file: no-post-rewrite status no-status",
	"git merge":       "m:,message F:,file s:,strategy X:,strategy-option S?,gpg-sign e,edit n,no-stat q,quiet v,verbose no-verify no-ff ff ff-only squash abort continue quit no-commit",
	"git rebase":      "i,interactive x:,exec s:,strategy X:,strategy-option S?,gpg-sign m,merge q,quiet v,verbose n,no-stat f,force-rebase,no-ff r?,rebase-merges onto: root autosquash no-autosquash no-verify autostash abort continue skip quit",
	"git cherry-pick": "n,no-commit e,edit m:,mainline S?,gpg-sign s,signoff x X:,strategy-option strategy: abort continue skip quit", "git revert": "n,no-commit e,edit m:,mainline S?,gpg-sign s,signoff X:,strategy-option strategy: abort continue skip quit",
	"git reset": "hard soft mixed merge keep q,quiet p,patch N,intent-to-add pathspec-from-file:", "git clean": "f,force d x X n,dry-run i,interactive q,quiet e:,exclude",
	"git checkout": "f,force b: B: q,quiet d,detach t,track m,merge l p,patch ours theirs orphan: conflict: guess no-guess no-track ignore-other-worktrees pathspec-from-file:",
	"git switch":   "f,force,discard-changes c:,create C:,force-create d,detach m,merge q,quiet t,track orphan: conflict: guess no-guess no-track",
	"git restore":  "s:,source S,staged W,worktree p,patch q,quiet m,merge ours theirs conflict: pathspec-from-file:",
	"git branch":   "d,delete D=d+f f,force m,move M=m+f c,copy C=c+f a,all r,remotes v,verbose l,list u:,set-upstream-to t,track q,quiet i,ignore-case contains no-contains merged no-merged sort: points-at: format: edit-description unset-upstream show-current",
	"git tag":      "d,delete f,force a,annotate s,sign m:,message F:,file l,list n? v,verify u:,local-user e,edit sort: contains points-at: format:",
	"git stash":    "p,patch u,include-untracked a,all q,quiet m:,message k,keep-index S,staged", "git worktree": "f,force b: B: d,detach", "git rm": "f,force r cached n,dry-run q,quiet ignore-unmatch",
	"git add": "f,force A,all n,dry-run u,update p,patch i,interactive e,edit N,intent-to-add v,verbose", "git mv": "f,force k n,dry-run v,verbose", "git fetch": "f,force p,prune a,append t,tags n,no-tags k,keep j: all depth: upload-pack:",
	"git pull":   "r?,rebase f,force q,quiet v,verbose no-rebase ff-only no-ff s:,strategy X:,strategy-option n,no-stat no-verify a,append t,tags k,keep p,prune",
	"git config": "f:,file e,edit l,list global system local worktree unset unset-all get get-all get-regexp", "git remote": "v,verbose f,fetch t: m:", "git submodule": "q,quiet f,force b:,branch",

	"npm":     npmSpelling,
	"pnpm":    npmSpelling + " r,recursive F:,filter",
	"yarn":    "s,silent f,force D,dev W cwd: registry: access: tag: otp: ignore-scripts",
	"pip":     "q,quiet v,verbose",
	"apt-get": "y,yes,assume-yes q,quiet s,simulate,dry-run purge o: t:,target-release f,fix-broken", "apt": "y,yes,assume-yes q,quiet s,simulate,dry-run purge o: t:,target-release f,fix-broken",
	"pip install": "U,upgrade r:,requirement e:,editable t:,target i:,index-url extra-index-url: c:,constraint user pre force-reinstall break-system-packages no-deps", "pip uninstall": "y,yes r:,requirement",

	"docker": dockerSpelling, "podman": dockerSpelling, "docker run": dockerRun, "podman run": dockerRun, "docker create": dockerRun, "docker exec": dockerRun, "podman exec": dockerRun,
	"docker rm": "f,force v,volumes l,link", "docker rmi": "f,force no-prune", "docker system": "a,all f,force volumes filter:", "docker image": "a,all f,force filter:", "docker volume": "a,all f,force filter:",
	"docker container": "f,force v,volumes l,link filter:", "docker compose": composeSpelling, "docker-compose": composeSpelling, "podman rm": "f,force v,volumes a,all",
	"docker build": "f:,file t:,tag q,quiet no-cache pull build-arg: target: platform: label: network: o:,output push load", "docker push": "a,all-tags q,quiet", "docker logs": "f,follow t,timestamps n:,tail since: until:",
	"kubectl": `n:,namespace A,all-namespaces f:,filename l:,selector o:,output c:,container k:,kustomize R,recursive w,watch i,stdin t,tty p context: cluster: user: kubeconfig: as: s:,server grace-period: force now all
		dry-run cascade wait timeout: field-selector:`,
	"kubectl logs": "f,follow p,previous since: tail:", "kubectl delete": "p:",
	"gh": "R:,repo", "gh pr": "R:,repo admin d,delete-branch m,merge r,rebase s,squash auto b:,body t:,subject,title B:,base H:,head F:,body-file f,fill w,web", "gh repo": "yes,confirm", "gh release": "y,yes cleanup-tag R:,repo",
}

const (
	npmSpelling = "g,global f,force D,save-dev P,save-prod E,save-exact O,save-optional S,save w:,workspace s,silent q,quiet y,yes n,no c:,call l,long p,parseable a,all C:,prefix tag: registry: access: otp: loglevel: userconfig: script-shell: " +
		"include: omit: location! ignore-scripts dry-run workspaces,ws if-present production legacy-peer-deps"
	dockerSpelling = "H:,host c:,context l:,log-level D,debug config: tls"
	dockerRun      = `*ends i,interactive t,tty d,detach v:,volume e:,env p:,publish P,publish-all u:,user w:,workdir h:,hostname l:,label m:,memory a:,attach c: q,quiet name: network:,net mount: entrypoint: env-file: cap-add: cap-drop: device:
		security-opt: pid: ipc: userns: privileged rm read-only init platform: restart: gpus: ip: link: add-host: dns: expose: log-driver: shm-size: ulimit: pull: cpus: group-add: runtime: tmpfs: volumes-from: cidfile:`
	composeSpelling = "f:,file p:,project-name profile: env-file: project-directory: v,volumes t:,timeout rmi: remove-orphans d,detach build q,quiet"
)

// spelled are the tables of spellings, read.
var spelled = sync.OnceValue(func() map[string]*spelling {
	all := make(map[string]*spelling, len(spellings))
	for name, text := range spellings {
		all[name] = readSpelling(text)
	}
	return all
})

func readSpelling(text string) *spelling {
	s := &spelling{first: map[string]string{}, means: map[string][]string{}, values: map[string]bool{}, tails: map[string]bool{}, names: map[string]bool{}, signs: map[string]string{}}
	for entry := range strings.FieldsSeq(text) {
		if sign, name, ok := strings.Cut(entry, "~"); ok {
			s.signs[sign] = name
			continue
		}
		if mark, ok := strings.CutPrefix(entry, "*"); ok {
			s.whole, s.bare, s.ends = s.whole || mark == "whole", s.bare || mark == "bare", s.ends || mark == "ends"
			continue
		}
		entry, meaning, _ := strings.Cut(entry, "=")
		names := strings.Split(strings.NewReplacer(":", "", "?", "", "!", "").Replace(entry), ",")
		has := func(mark string) bool { return strings.Contains(entry, mark) }
		for _, name := range names {
			s.first[name] = names[0]
		}
		if meaning != "" {
			s.means[names[0]] = strings.Split(meaning, "+")
		}
		s.values[names[0]], s.tails[names[0]], s.names[names[0]] = has(":") || has("!"), has("?"), has("!")
	}
	return s
}

// over returns the options of a command over those of its program.
func (s *spelling) over(program spelling) spelling {
	both := *s
	both.first = maps.Clone(s.first)
	both.values, both.tails = maps.Clone(s.values), maps.Clone(s.tails)
	for name, first := range program.first {
		if _, ok := both.first[name]; ok {
			continue
		}
		if _, ok := s.values[first]; !ok {
			both.first[name] = first
			both.values[first], both.tails[first] = program.values[first], program.tails[first]
		}
	}
	return both
}

// flags returns the options that an argument is, and whether the next argument is
// the value of the last one.
func (s *spelling) flags(arg string) (all []option, takes bool) {
	if strings.HasPrefix(arg, "--") || s.whole {
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		full := s.full(name)
		for _, first := range full {
			all = append(all, s.meaning(option{first, value, len(full) > 1 || value == "false"})...)
		}
		return all, !given && s.values[full[0]]
	}
	letters := arg[1:]
	for i := range len(letters) {
		name := letters[i : i+1]
		if first, ok := s.first[name]; ok {
			name = first
		}
		rest := letters[i+1:]
		takesAll := !s.bare && (s.values[name] || s.tails[name])
		if !takesAll {
			all = append(all, s.meaning(option{name: name})...)
			takes = takes || s.values[name]
			continue
		}
		return append(all, s.meaning(option{name: name, value: rest})...), rest == "" && s.values[name]
	}
	return all, takes
}

// full returns the first names of the long options that a name may be short for.
func (s *spelling) full(name string) []string {
	if first, ok := s.first[name]; ok {
		return []string{first}
	}
	var all []string
	for long, first := range s.first {
		if len(long) > 1 && name != "" && strings.HasPrefix(long, name) {
			all = append(all, first)
		}
	}
	if len(all) == 0 || s.whole {
		return []string{name}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// meaning returns an option as what it means.
func (s *spelling) meaning(f option) []option {
	names, ok := s.means[f.name]
	if !ok {
		return []option{f}
	}
	var all []option
	for _, name := range names {
		all = append(all, option{name, f.value, f.doubtful})
	}
	return all
}
