"""The keys and certificates of the local cluster: its own authority, a server, an administrator."""

import datetime as dt
import ipaddress
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFE = dt.timedelta(days=365)  # a demo stack may stand for long
_CLOCK_SKEW = dt.timedelta(hours=1)


class Files(NamedTuple):
    """Where the local cluster's keys and certificates lie."""

    authority: Path
    server_certificate: Path
    server_key: Path
    admin_certificate: Path
    admin_key: Path
    service_account_key: Path
    service_account_public: Path


class Login(NamedTuple):
    """Who a further client is to the API server, and how its two files are called."""

    file: str
    name: str
    group: str | None = None

    def certificate(self, folder: Path) -> Path:
        return folder / f"{self.file}-certificate.pem"

    def key(self, folder: Path) -> Path:
        return folder / f"{self.file}-key.pem"


# The group that Kubernetes itself lets do everything.
ADMIN = Login("admin", "development-admin", "system:masters")


class _Authority(NamedTuple):
    name: x509.Name
    key: ec.EllipticCurvePrivateKey
    now: dt.datetime


def files(folder: Path) -> Files:
    return Files(*(folder / f"{name.replace('_', '-')}.pem" for name in Files._fields))


def create(
    folder: Path,
    *,
    now: dt.datetime,
    addresses: Iterable[str] = ("127.0.0.1",),
    logins: Iterable[Login] = (),
) -> Files:
    """Write a new authority and all that it signs; the authority's own key is thrown away.

    The server is known by its addresses, and each login gets a certificate and a key.
    """
    written = files(folder)
    name = _name("receipts development authority")
    authority = _Authority(name, ec.generate_private_key(ec.SECP256R1()), now)
    root = (
        _builder(authority, subject=name, key=authority.key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(authority.key, hashes.SHA256())
    )
    _write_certificate(written.authority, root)
    server, server_key = _sign_server(authority, addresses)
    _write_certificate(written.server_certificate, server)
    _write_key(written.server_key, server_key)
    for login in (ADMIN, *logins):
        client, client_key = _sign_client(authority, login)
        _write_certificate(login.certificate(folder), client)
        _write_key(login.key(folder), client_key)
    accounts = ec.generate_private_key(ec.SECP256R1())
    _write_key(written.service_account_key, accounts)
    written.service_account_public.write_bytes(
        accounts.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    return written


def _sign_server(
    authority: _Authority, addresses: Iterable[str]
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    names = x509.SubjectAlternativeName(
        [
            x509.DNSName("localhost"),
            x509.DNSName("kubernetes.default.svc"),
            *(x509.IPAddress(ipaddress.ip_address(address)) for address in addresses),
        ]
    )
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    certificate = (
        _builder(authority, subject=_name("kube-apiserver"), key=key)
        .add_extension(names, critical=False)
        .add_extension(usage, critical=False)
        .sign(authority.key, hashes.SHA256())
    )
    return certificate, key


def _sign_client(
    authority: _Authority, login: Login
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
    certificate = (
        _builder(authority, subject=_name(login.name, organization=login.group), key=key)
        .add_extension(usage, critical=False)
        .sign(authority.key, hashes.SHA256())
    )
    return certificate, key


def _builder(
    authority: _Authority, *, subject: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .issuer_name(authority.name)
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(authority.now - _CLOCK_SKEW)
        .not_valid_after(authority.now + _LIFE)
    )


def _name(common: str, *, organization: str | None = None) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, common)]
    if organization is not None:
        parts.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(parts)


def _write_certificate(path: Path, certificate: x509.Certificate) -> None:
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
