package command

// servicePrograms are programs that reach other computers and services, or change the system.
var servicePrograms = map[string]program{
	"GET lwp-download": {does: downloads},
	"ab cloudflared dig doctl hey host k6 mc mtr mutt ngrok nmap nslookup ping ping6 rclone s3cmd smbclient ssh-copy-id ssh-keyscan supabase telnet tracepath traceroute whois wrk": {
		does: network,
	},
	"adduser chkconfig chpasswd chsh csrutil dconf defaults deluser dpkg firewall-cmd groupadd groupdel gsettings hostnamectl ifconfig insmod ip ip6tables iptables keytool launchd localectl loginctl modprobe mount networksetup nft nmcli passwd rmmod route rpm scutil setenforce spctl ssh-add swapoff swapon sysctl timedatectl ufw umount update-alternatives update-rc.d useradd userdel usermod visudo xdg-mime": {
		does: system,
	},
	"aria2c":    {does: network | downloads | launches, files: fileOptions{writes: "-d --dir -o --out -l --log"}},
	"at batch":  {does: system | launches},
	"aws":       {does: network | verbs, commands: kinds{destroys: "s3 rm|s3 rb|ec2 terminate-instances|rds delete-db-instance", sends: "s3 cp|s3 sync"}},
	"az gcloud": {does: network | verbs},
	"badblocks blkdiscard cfdisk cryptsetup diskutil fdisk gdisk hdparm lvremove mkfs mkswap parted pvremove sfdisk sgdisk vgremove wipefs": {does: disks},
	"crontab": {does: launches, look: schedules},
	"curl": {
		does: downloads, usage: &usage{asks: "--version -V"},
		options: `X:,request d:,data,data-ascii F:,form T:,upload-file o:,output O,remote-name L,location k,insecure s,silent S,show-error f,fail H:,header u:,user
				A:,user-agent b:,cookie c:,cookie-jar e:,referer K:,config x:,proxy I,head G,get i,include,show-headers v,verbose w:,write-out m:,max-time
				C:,continue-at D:,dump-header E:,cert r:,range N,no-buffer n,netrc Q:,quote J,remote-header-name R,remote-time a,append g,globoff # data-raw:
				data-binary: data-urlencode: json: url: connect-timeout: retry: cacert: form-string: proto: resolve: unix-socket:`,
		look: transfers,
	},
	"docker": {
		does:     verbs,
		commands: kinds{destroys: "system prune|volume rm|volume prune|image prune|rm|rmi|container prune|compose down", sends: "push"},
		usage:    &usage{asks: "--version -v"}, queries: dockerQueries, options: dockerOptions,
		commandOptions: map[string]string{
			"build":     "f:,file t:,tag q,quiet no-cache pull build-arg: target: platform: label: network: o:,output push load",
			"compose":   "f:,file p:,project-name profile: env-file: project-directory: v,volumes t:,timeout rmi: remove-orphans d,detach build q,quiet",
			"container": "f,force v,volumes l,link filter:",
			"create":    "*ends i,interactive t,tty d,detach v:,volume e:,env p:,publish P,publish-all u:,user w:,workdir h:,hostname l:,label m:,memory a:,attach c: q,quiet name: network:,net mount: entrypoint: env-file: cap-add: cap-drop: device: security-opt: pid: ipc: userns: privileged rm read-only init platform: restart: gpus: ip: link: add-host: dns: expose: log-driver: shm-size: ulimit: pull: cpus: group-add: runtime: tmpfs: volumes-from: cidfile:",
			"exec":      "*ends i,interactive t,tty d,detach v:,volume e:,env p:,publish P,publish-all u:,user w:,workdir h:,hostname l:,label m:,memory a:,attach c: q,quiet name: network:,net mount: entrypoint: env-file: cap-add: cap-drop: device: security-opt: pid: ipc: userns: privileged rm read-only init platform: restart: gpus: ip: link: add-host: dns: expose: log-driver: shm-size: ulimit: pull: cpus: group-add: runtime: tmpfs: volumes-from: cidfile:",
			"image":     "a,all f,force filter:",
			"logs":      "f,follow t,timestamps n:,tail since: until:",
			"push":      "a,all-tags q,quiet",
			"rm":        "f,force v,volumes l,link",
			"rmi":       "f,force no-prune",
			"run":       "*ends i,interactive t,tty d,detach v:,volume e:,env p:,publish P,publish-all u:,user w:,workdir h:,hostname l:,label m:,memory a:,attach c: q,quiet name: network:,net mount: entrypoint: env-file: cap-add: cap-drop: device: security-opt: pid: ipc: userns: privileged rm read-only init platform: restart: gpus: ip: link: add-host: dns: expose: log-driver: shm-size: ulimit: pull: cpus: group-add: runtime: tmpfs: volumes-from: cidfile:",
			"system":    "a,all f,force volumes filter:",
			"volume":    "a,all f,force filter:",
		},
		steered: "compose.yaml compose.yml docker-compose.yaml docker-compose.yml Dockerfile",
	},
	"docker-compose":  {does: verbs, options: composeOptions, steered: "compose.yaml compose.yml docker-compose.yaml docker-compose.yml Dockerfile"},
	"dropdb dropuser": {does: destroys},
	"duckdb mariadb mongosh mysql psql redis-cli sqlite3": {look: queries},
	"etcdctl":                          {commands: kinds{destroys: "del"}},
	"fetch ftp http https lynx w3m xh": {does: network | downloads},
	"firebase netlify vercel wrangler": {does: network | verbs, commands: kinds{sends: "deploy"}},
	"fly":                              {does: network | verbs, commands: kinds{destroys: "apps destroy", sends: "deploy"}},
	"flyctl":                           {does: network | verbs, commands: kinds{destroys: "apps destroy"}},
	"fuser skill xkill":                {look: kills},
	"gh": {
		does: network | verbs,
		commands: kinds{
			destroys: "repo delete|release delete",
			sends: "pr create|pr merge|release|issue create|issue comment|issue close|issue reopen|issue edit|issue delete|issue lock|issue pin|" +
				"issue transfer|issue develop|gist|pr comment|api",
		},
		queries: map[string]usage{
			"issue list":    {values: "sLAalSRmjqt", long: "state= limit= author= assignee= label= search= app= json= jq= template= repo= mention= milestone=", operands: takesNone, check: asksGitHub},
			"issue status":  {values: "Rjqt", long: "comments json= jq= template= repo=", operands: takesNone, check: asksGitHub},
			"issue view":    {flags: "c", values: "Rjqt", long: "comments json= jq= template= repo=", operands: takesTexts, check: asksGitHub},
			"label list":    {values: "LSRjqt", long: "sort= order= state= limit= author= assignee= label= search= app= json= jq= template= repo=", operands: takesNone, check: asksGitHub},
			"pr checks":     {values: "Rjqt", long: "required comments json= jq= template= repo=", operands: takesTexts, check: asksGitHub},
			"pr diff":       {values: "R", long: "color= name-only patch repo=", operands: takesTexts, check: asksGitHub},
			"pr list":       {values: "sLAaBHlSRjqt", long: "state= limit= author= assignee= label= search= app= json= jq= template= repo= base= head= draft", operands: takesNone, check: asksGitHub},
			"pr status":     {flags: "c", values: "Rjqt", long: "conflict-status comments json= jq= template= repo=", operands: takesNone, check: asksGitHub},
			"pr view":       {flags: "c", values: "Rjqt", long: "comments json= jq= template= repo=", operands: takesTexts, check: asksGitHub},
			"release list":  {values: "LORjqt", long: "state= limit= author= assignee= label= search= app= json= jq= template= repo= order= exclude-drafts exclude-pre-releases", operands: takesNone, check: asksGitHub},
			"release view":  {values: "Rjqt", long: "comments json= jq= template= repo=", operands: takesTexts, check: asksGitHub},
			"repo view":     {values: "bjqt", long: "branch= comments json= jq= template= repo=", operands: takesTexts, check: asksGitHub},
			"run list":      {flags: "a", values: "bceLsuwRjqt", long: "state= limit= author= assignee= label= search= app= json= jq= template= repo= all branch= commit= event= status= user= workflow= created=", operands: takesNone, check: asksGitHub},
			"run view":      {flags: "v", values: "ajRqt", long: "log log-failed verbose job= attempt= exit-status comments json= jq= template= repo=", operands: takesTexts, check: asksGitHub},
			"workflow list": {flags: "a", values: "LRjqt", long: "all state= limit= author= assignee= label= search= app= json= jq= template= repo=", operands: takesNone, check: asksGitHub},
		},
		options: "R:,repo",
		commandOptions: map[string]string{
			"pr":      "R:,repo admin d,delete-branch m,merge r,rebase s,squash auto b:,body t:,subject,title B:,base H:,head F:,body-file f,fill w,web",
			"release": "y,yes cleanup-tag R:,repo",
			"repo":    "yes,confirm",
		},
	},
	"glab": {does: network | verbs, commands: kinds{sends: "mr"}},
	"git": { // its commands have rows of their own: see gitRows
		does: verbs, look: gits, commands: kinds{deletes: "rm|clean"}, options: "C: c: git-dir: work-tree: exec-path: namespace: config-env: p,paginate P,no-pager bare no-replace-objects",
		files: fileOptions{writes: "--output --output-directory"},
	},
	"gpg":    {does: system, files: fileOptions{writes: "-o --output --output-dir"}},
	"gsutil": {does: network, commands: kinds{destroys: "rm", sends: "cp"}},
	"halt init poweroff reboot shutdown telinit": {does: stops},
	"helm":    {does: network | verbs, commands: kinds{destroys: "uninstall|delete", installs: "install|upgrade", sends: "push"}},
	"heroku":  {does: sends | verbs, commands: kinds{destroys: "apps:destroy"}},
	"kill":    {options: "*whole 9,KILL,SIGKILL,kill,sigkill 15,TERM,SIGTERM,term 1,HUP,SIGHUP 2,INT,SIGINT s!,signal n!", look: kills},
	"killall": {options: "*whole 9,KILL,SIGKILL 15,TERM,SIGTERM s!,signal", look: kills},
	"kubectl": {
		does: network | verbs | launches, commands: kinds{destroys: "delete", sends: "apply|create"},
		options: `n:,namespace A,all-namespaces f:,filename l:,selector o:,output c:,container k:,kustomize R,recursive w,watch i,stdin t,tty p context: cluster: user:
				kubeconfig: as: s:,server grace-period: force now all dry-run cascade wait timeout: field-selector:`,
		commandOptions: map[string]string{
			"delete": "p:",
			"logs":   "f,follow p,previous since: tail:",
		},
	},
	"launchctl service":      {look: schedules},
	"mail sendmail":          {does: sends},
	"mosh sftp socat":        {does: network | launches},
	"mysqladmin":             {commands: kinds{destroys: "drop"}},
	"nc ncat":                {does: network | downloads | launches},
	"nerdctl podman-compose": {steered: "compose.yaml compose.yml docker-compose.yaml docker-compose.yml Dockerfile"},
	"ollama":                 {does: network, commands: kinds{destroys: "rm"}},
	"openssl": {
		does:  network,
		files: fileOptions{writes: "-out -keyout -writerand -CAserial -outdir", reads: "-in -inkey -key -CA -CAkey -CAfile -cert -certfile -config -rand -sign -verify"},
	},
	"pkill": {options: "*whole 9,KILL,SIGKILL 15,TERM,SIGTERM f,full signal!", look: kills},
	"podman": {
		does: verbs, commands: kinds{destroys: "system prune|rm|volume rm", sends: "push"}, queries: dockerQueries, options: dockerOptions,
		commandOptions: map[string]string{
			"exec": "*ends i,interactive t,tty d,detach v:,volume e:,env p:,publish P,publish-all u:,user w:,workdir h:,hostname l:,label m:,memory a:,attach c: q,quiet name: network:,net mount: entrypoint: env-file: cap-add: cap-drop: device: security-opt: pid: ipc: userns: privileged rm read-only init platform: restart: gpus: ip: link: add-host: dns: expose: log-driver: shm-size: ulimit: pull: cpus: group-add: runtime: tmpfs: volumes-from: cidfile:",
			"rm":   "f,force v,volumes a,all",
			"run":  "*ends i,interactive t,tty d,detach v:,volume e:,env p:,publish P,publish-all u:,user w:,workdir h:,hostname l:,label m:,memory a:,attach c: q,quiet name: network:,net mount: entrypoint: env-file: cap-add: cap-drop: device: security-opt: pid: ipc: userns: privileged rm read-only init platform: restart: gpus: ip: link: add-host: dns: expose: log-driver: shm-size: ulimit: pull: cpus: group-add: runtime: tmpfs: volumes-from: cidfile:",
		},
		steered: "compose.yaml compose.yml docker-compose.yaml docker-compose.yml Dockerfile",
	},
	"pulumi": {does: verbs, commands: kinds{destroys: "destroy"}},
	"rsync": {
		commands: kinds{deletes: "--delete"}, options: `a,archive=a+r r,recursive v,verbose z,compress n,dry-run e:,rsh f:,filter exclude: include: u,update P p t o g l b,backup delete,del
				delete-before=delete delete-after=delete delete-during=delete delete-delay=delete delete-excluded=delete remove-source-files`,
		look:  moves,
		files: fileOptions{writes: "--log-file --write-batch --only-write-batch --backup-dir --partial-dir --temp-dir -T"},
		deep:  "*",
	},
	"scp":        {look: moves, deep: "r"},
	"ssh":        {does: network | launches, options: "*ends o: p: i: l: L: R: D: F: J: E: b: c: e: I: m: O: Q: S: W: w: N f T t v q A a X Y C g k K n M 4 6"},
	"ssh-keygen": {does: system, files: fileOptions{writes: "-f"}},
	"systemctl":  {does: verbs, look: schedules},
	"terraform":  {does: verbs, commands: kinds{builds: "plan|validate|fmt", destroys: "destroy", sends: "apply"}, options: "*whole"},
	"tofu":       {does: verbs, commands: kinds{destroys: "destroy"}, options: "*whole"},
	"twine":      {commands: kinds{sends: "upload"}},
	"vault":      {commands: kinds{destroys: "delete"}},
	"virsh":      {commands: kinds{destroys: "undefine"}},
	"wget": {
		does: downloads,
		options: `O:,output-document P:,directory-prefix r,recursive q,quiet c,continue N,timestamping i:,input-file e:,execute m,mirror=m+r k,convert-links
				p,page-requisites n? t:,tries T:,timeout U:,user-agent o:,output-file a:,append-output b,background no-check-certificate post-data: post-file: header:
				method: body-data: body-file:`,
		look: transfers,
	},
	"yt-dlp": {does: network | launches, files: fileOptions{writes: "-o --output -P --paths"}},
}

// dockerQueries are the commands of docker and podman that only read.
var dockerQueries = map[string]usage{
	"compose ls":   {flags: "aq", long: "all filter= format= quiet", operands: takesNone},
	"container ls": {flags: "aqnls", values: "f", long: "all filter= format= last= latest no-trunc quiet size", operands: takesNone},
	"image ls":     {flags: "aq", values: "f", long: "all digests filter= format= no-trunc quiet tree", operands: takesTexts},
	"images":       {flags: "aq", values: "f", long: "all digests filter= format= no-trunc quiet tree", operands: takesTexts},
	"logs":         {flags: "t", values: "n", long: "details since= tail= timestamps until=", operands: takesTexts},
	"network ls":   {flags: "q", values: "f", long: "filter= format= quiet no-trunc", operands: takesNone},
	"port":         {operands: takesTexts},
	"ps":           {flags: "aqnls", values: "f", long: "all filter= format= last= latest no-trunc quiet size", operands: takesNone},
	"top":          {operands: takesTexts},
	"volume ls":    {flags: "q", values: "f", long: "filter= format= quiet", operands: takesNone},
}

const (
	ghViews       = `comments json= jq= template= repo=`
	ghLists       = `state= limit= author= assignee= label= search= app= json= jq= template= repo=`
	dockerOptions = `H:,host c:,context l:,log-level D,debug config: tls`
	dockerRun     = `*ends i,interactive t,tty d,detach v:,volume e:,env p:,publish P,publish-all u:,user w:,workdir h:,hostname l:,label m:,memory a:,attach c: q,quiet
		name: network:,net mount: entrypoint: env-file: cap-add: cap-drop: device: security-opt: pid: ipc: userns: privileged rm read-only init platform:
		restart: gpus: ip: link: add-host: dns: expose: log-driver: shm-size: ulimit: pull: cpus: group-add: runtime: tmpfs: volumes-from: cidfile:`
	composeOptions = `f:,file p:,project-name profile: env-file: project-directory: v,volumes t:,timeout rmi: remove-orphans d,detach build q,quiet`
)
