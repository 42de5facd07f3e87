package rule

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
)

// spellings are rules that deny, each with the commands that it denies, those about
// which it asks because it cannot be told, and those that it leaves alone.
var spellings = []struct{ rule, denied, asked, free string }{
	// A wildcard at the end of a word means what begins so, and nothing else of the program.
	{"Bash(git push*)", "git push|git push origin main|git -C . push|git --no-pager push -u origin x|git pushy|git-push", "git $X|git -c alias.p=push p|for c in a b; do git ${c}; done", "git status|git log|git diff|git commit -m push|git stash push|git add push|git log --grep=push|ls"},
	{"Bash(rm -rf*)", "rm -rf x|rm -rfv x|rm -r -f x|rm x -fr|sudo rm --recursive --force x", "rm $X", "rm a.tmp|rm -f x|rm -r x|rm -- -rf"},
	{"Bash(npm publish*)", "npm publish|npm publish --tag next|npm --silent publish|npm -w web publish|npm --odd publish", "", "npm test|npm run publish-docs|npm ls|npm --silent run publish-docs"},
	{"Bash(git * --force)", "git push --force|git push -f|git fetch -uf|git -C . clean -df", "", "git push|git status|git push --force-with-lease"},
	{"Bash(git push --force*)", "git push --force|git push --force-with-lease|git push -f|git push -uf origin x|git push origin +main", "git push $X", "git push|git push origin main|git status|git commit --amend"},
	{"Bash(ls*)", "ls|ls -la|lsof -i", "", "cat x|echo ls"},
	{"Bash(docker compose down*)", "docker compose down|docker compose -f x.yml down -v", "", "docker compose up|docker ps|docker compose logs -f web"},
	{"Bash(terraform destroy*)", "terraform destroy|terraform -chdir=x destroy", "", "terraform plan|terraform show"},
	{"Bash(cargo publ*)", "cargo publish|cargo publish --dry-run|cargo --odd publish", "", "cargo build|cargo test publ"},
	// Options are the program's, however they are spelled.
	{"Bash(rm -rf *)", "rm -r -f x|rm -f -r x|rm --recursive --force x|rm -rfv x|rm -vrf x|rm -Rf x|rm --rec --forc x|rm -fR x y|find . -exec rm -rf {} +|ls ¦ xargs rm -r -f", "rm $OPTS x", "rm x|rm -r x|rm -fv x|rm --force x"},
	{"Bash(rm --recursive *)", "rm -r x|rm -vR x|rm --recurs x", "", "rm -f x"},
	{"Bash(git commit --no-verify *)", "git commit -n -m x|git commit -nm x|git commit -anm x|git commit --no-verif|git commit -m x --no-verify|git -C . commit -an", "git commit $X", "git commit -mn|git commit -m -n|git commit -am 'no verify'|git commit -Sn -m x|git commit|git push --no-verify"},
	{"Bash(git push --force *)", "git push -f|git push -uf origin x|git push origin main --force|git push --mirror|git push origin +main", "", "git push --force-with-lease|git push -u origin f|git push --follow-tags"},
	{"Bash(git push -d *)", "git push --delete origin x|git push origin :x", "", "git push origin x"},
	{"Bash(git branch -D *)", "git branch -df x|git branch --delete --force x|git branch -D x", "", "git branch -d x|git branch x"},
	{"Bash(git reset --hard *)", "git reset --har|git reset HEAD~1 --hard", "", "git reset --soft HEAD~1|git reset"},
	{"Bash(git clean -f *)", "git clean -xfd|git clean --force|git clean -dff", "", "git clean -n|git clean -e f -n"},
	{"Bash(git checkout -f *)", "git checkout --force x|git checkout -qf x", "", "git checkout -b f|git checkout x"},
	{"Bash(chmod -R *)", "chmod --recursive 777 x|chmod -vR 777 x", "", "chmod 777 x|chmod -r x"},
	{"Bash(chown -R *)", "chown --recurs a x|chown -hR a x", "", "chown a x"},
	{"Bash(cp -r *)", "cp -R a b|cp -a a b|cp --recursive a b|cp --archive a b|cp -vr a b", "", "cp a b|cp -t r a"},
	{"Bash(mv -f *)", "mv --force a b|mv -vf a b", "", "mv a b|mv -t f a"},
	{"Bash(npm install -g *)", "npm install --global x|npm -g install x|npm install x --location=global", "", "npm install x|npm install -D g"},
	{"Bash(docker run --privileged *)", "docker run -it --privileged x|docker --host h run --privileged x", "", "docker run x --privileged|docker run -it x|docker ps"},
	{"Bash(docker rm -f *)", "docker rm --force x|docker rm -vf x", "", "docker rm x|docker rm -v f"},
	{"Bash(kubectl delete --all *)", "kubectl delete pod --all|kubectl -n prod delete pod --all=true", "kubectl delete pod --all=false", "kubectl delete pod x|kubectl get pods -A"},
	{"Bash(kubectl delete *)", "kubectl -n prod delete pod x|kubectl --context c delete pod x", "kubectl --odd x delete pod", "kubectl get delete|kubectl describe pod delete"},
	{"Bash(curl -X POST *)", "curl -XPOST http://x|curl --request POST http://x|curl --request=POST http://x|curl -sXPOST http://x", "", "curl -XGET http://x|curl http://x"},
	{"Bash(curl -k *)", "curl --insecure http://x|curl -sk http://x", "", "curl -o k http://x|curl -ok http://x"},
	{"Bash(tar -x *)", "tar xzf a.tgz|tar --extract -f a.tgz|tar -zxf a.tgz|tar --get -f a", "", "tar czf x.tgz a|tar -cf x a|tar tf a"},
	{"Bash(find * -delete)", "find . -delete|find . -name x -delete", "", "find . -name delete|find ."},
	{"Bash(kill -9 *)", "kill -KILL 1|kill -s KILL 1|kill -SIGKILL 1|kill -n 9 1", "", "kill 1|kill -15 1"},
	{"Bash(rsync --delete *)", "rsync -a --delete-after a b|rsync --del a b", "", "rsync -a a b"},
	{"Bash(bash -c *)", "bash -lc 'ls'|bash -x -c 'ls'", "", "bash --version"},
	// Nothing is known of the program, so another spelling may be meant.
	{"Bash(deployer --force *)", "deployer x --force|deployer --force=yes", "deployer -f|deployer -xf|deployer --forc", "deployer x|deployer --dry-run|deployer -- -f"},
	{"Bash(deployer -xf *)", "deployer -fx|deployer -xf a", "deployer -x -f|deployer -vxf", "deployer -x|deployer a"},
}

// A rule that denies means the options of a command, however they are spelled, and a
// word with a wildcard means what begins so. OAS-630.
func TestRulesKnowSpellings(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	for _, c := range spellings {
		for want, commands := range map[agent.Decision]string{agent.Deny: c.denied, agent.Ask: c.asked, "": c.free} {
			for command := range strings.SplitSeq(commands, "|") {
				command = strings.ReplaceAll(command, "¦", "|")
				if command == "" {
					continue
				}
				if got := judged(t, project, agent.Deny, c.rule, command); got != want {
					t.Errorf("%s: %s: %q, want %q", c.rule, command, got, want)
				}
				asks := want
				if want == agent.Deny {
					asks = agent.Ask
				}
				if got := judged(t, project, agent.Ask, c.rule, command); got != asks {
					t.Errorf("ask %s: %s: %q, want %q", c.rule, command, got, asks)
				}
			}
		}
	}
}
