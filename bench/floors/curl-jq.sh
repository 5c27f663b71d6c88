#!/bin/sh
# What people do today: curl for the pages, jq for the rows, sqlite-utils for the table.
#   sh bench/floors/curl-jq.sh BASE_URL TOKEN FILE
set -eu
url="$1/api/v1/posts/"
page=$(mktemp)
trap 'rm -f "$page"' EXIT
while [ "$url" != null ]; do
  curl -sSf -H "Authorization: Bearer $2" "$url" -o "$page"
  jq -c .results "$page" | sqlite-utils upsert "$3" posts - --pk id
  url=$(jq -r .next "$page")
done
