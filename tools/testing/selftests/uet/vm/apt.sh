# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# Sourced: apt with lists of its own, so that the host's apt is never changed.
# The archive is the one that the host itself uses.

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The host's release, or the first word that says it is no Debian.
host_suite() {
	# shellcheck disable=SC1091
	(. /etc/os-release && echo "${VERSION_CODENAME:-unknown}")
}

host_uri() { # SUITE: the address the host's own sources give for it
	# shellcheck disable=SC2016 # apt's own
	apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Identifier: Packages' |
		awk -v suite="$1" '$1 == suite { print $2; exit }'
}

# debian SUITE...: point the private apt at these suites, fetching their lists.
# Sets the array apt_opts for the apt-get and apt-cache that follow.
debian() {
	local dir main security suite uri
	dir=$cache/apt/$(echo "$*" | tr ' ' +)
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	# apt does not wait for another one, so we do
	exec {apt_lock}>"$dir/lock"
	flock "$apt_lock"
	main=$(host_uri "$(host_suite)")
	[ -n "$main" ] || die "apt has no source for $(host_suite): is this Debian 12 or 13?"
	security=$(host_uri "$(host_suite)-security")
	: "${security:=${main%/debian*}/debian-security}"
	for suite; do
		case $suite in
		*-security) uri=$security ;;
		*) uri=$main ;;
		esac
		echo "deb [signed-by=$keyring] $uri $suite main"
		case $suite in
		bookworm|trixie|sid) echo "deb-src [signed-by=$keyring] $uri $suite main" ;;
		esac
	done >"$dir/sources.list"
	apt_opts=(-q -o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o Dir::Etc::preferencesparts=/dev/null -o "Dir::State::lists=$dir/lists"
		-o "Dir::Cache=$dir/cache" -o Acquire::Languages=none -o APT::Sandbox::User=root
		-o APT::Update::Post-Invoke-Success::= -o Acquire::Retries=3)
	logged "$cache/log/apt-update" apt-get "${apt_opts[@]}" update
}

newest_package() { # PREFIX REGEX: the matching package with the highest version in its name
	apt-cache "${apt_opts[@]}" pkgnames "$1" | grep -E "^$2\$" | sort -V | tail -n 1
}

package_version() {
	apt-cache "${apt_opts[@]}" policy "$1" | awk '$1 == "Candidate:" { print $2 }'
}

# unpack DIR PACKAGE...: the packages' files below DIR, nothing installed
unpack() {
	local dir=$1 deb
	shift
	mkdir -p "$dir/debs"
	(cd "$dir/debs" && logged "$cache/log/apt-download" apt-get "${apt_opts[@]}" download "$@")
	for deb in "$dir"/debs/*.deb; do
		dpkg -x "$deb" "$dir"
	done
	rm -r "$dir/debs"
}
