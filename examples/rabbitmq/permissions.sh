#!/bin/sh
# Generated from receipt_contract/access.py; do not edit: make generate
#
# Gives each user of the broker what it needs and nothing more, in the virtual host that is named:
#
#   for user in operator worker collector topology scaler; do
#     rabbitmqctl add_user "receipts-$user"   # asks for a password
#   done
#   sh permissions.sh receipts
set -eu
vhost=${1:?name the virtual host}

rabbitmqctl set_permissions --vhost "$vhost" receipts-operator '^$' '^(receipts\.v1\.work)$' '^$'
rabbitmqctl set_permissions --vhost "$vhost" receipts-worker '^$' '^(receipts\.v1\.retry|receipts\.v1\.dead|ocr\.results\.v1\.work)$' '^(receipts\.v1\.work)$'
rabbitmqctl set_permissions --vhost "$vhost" receipts-collector '^$' '^(ocr\.results\.v1\.retry|ocr\.results\.v1\.dead)$' '^(ocr\.results\.v1\.work|receipts\.v1\.failures|ocr\.results\.v1\.failures)$'
rabbitmqctl set_permissions --vhost "$vhost" receipts-topology '^(receipts\.v1\.work|receipts\.v1\.retry|receipts\.v1\.dead|receipts\.v1\.failures|ocr\.results\.v1\.work|ocr\.results\.v1\.retry|ocr\.results\.v1\.dead|ocr\.results\.v1\.failures)$' '^(receipts\.v1\.work|receipts\.v1\.retry|receipts\.v1\.dead|receipts\.v1\.failures|ocr\.results\.v1\.work|ocr\.results\.v1\.retry|ocr\.results\.v1\.dead|ocr\.results\.v1\.failures)$' '^(receipts\.v1\.work|receipts\.v1\.retry|receipts\.v1\.dead|receipts\.v1\.failures|ocr\.results\.v1\.work|ocr\.results\.v1\.retry|ocr\.results\.v1\.dead|ocr\.results\.v1\.failures)$'
rabbitmqctl set_permissions --vhost "$vhost" receipts-scaler '^$' '^$' '^$'
rabbitmqctl set_user_tags receipts-scaler management
